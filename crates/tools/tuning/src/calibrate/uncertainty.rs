//! The uncertainty of fitted parameters.

/// The standard error of each parameter, from the residuals at the best point and their derivatives with respect to
/// each parameter (`jacobian`, one row per residual). None where the residuals do not determine it.
///
/// ```text
///   s^2 = sum r^2 / (N - p)        covariance = s^2 (J^T J)^-1        standard error = its diagonal's root
/// ```
///
/// Source: any textbook on nonlinear regression; the model is taken to be linear near the best point.
pub fn standard_errors(residuals: &[f64], jacobian: &[Vec<f64>]) -> Vec<Option<f64>> {
    let parameters = jacobian.first().map_or(0, Vec::len);
    let Some(freedom) = residuals.len().checked_sub(parameters).filter(|&freedom| freedom > 0) else {
        return vec![None; parameters];
    };
    let variance = residuals.iter().map(|residual| residual * residual).sum::<f64>() / freedom as f64;
    // A parameter that changes nothing would make the others' errors unknown, too.
    let moves: Vec<usize> = (0..parameters).filter(|&it| jacobian.iter().any(|row| row[it] != 0.0)).collect();
    let product = |one: usize, other: usize| jacobian.iter().map(|row| row[one] * row[other]).sum::<f64>();
    let normal: Vec<Vec<f64>> =
        moves.iter().map(|&one| moves.iter().map(|&other| product(one, other)).collect()).collect();
    let mut errors = vec![None; parameters];
    if let Some(inverse) = inverse(normal) {
        for (place, &parameter) in moves.iter().enumerate() {
            errors[parameter] = Some((variance * inverse[place][place]).max(0.0).sqrt());
        }
    }
    errors
}

/// The inverse of a symmetric positive definite matrix, by elimination with the largest pivot first; none if it has
/// none.
pub(super) fn inverse(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    let largest = (0..n).map(|it| matrix[it][it]).fold(0.0, f64::max);
    let mut inverse: Vec<Vec<f64>> =
        (0..n).map(|row| (0..n).map(|column| f64::from(u8::from(row == column))).collect()).collect();
    for column in 0..n {
        let pivot = (column..n).max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))?;
        // So small a pivot is nothing but rounding.
        if matrix[pivot][column].abs() <= largest * 1e-12 {
            return None;
        }
        matrix.swap(column, pivot);
        inverse.swap(column, pivot);
        let divisor = matrix[column][column];
        for cell in matrix[column].iter_mut().chain(&mut inverse[column]) {
            *cell /= divisor;
        }
        let (lead, lead_inverse) = (matrix[column].clone(), inverse[column].clone());
        for row in (0..n).filter(|&row| row != column) {
            let factor = matrix[row][column];
            for (cell, lead) in matrix[row].iter_mut().zip(&lead).chain(inverse[row].iter_mut().zip(&lead_inverse)) {
                *cell -= factor * lead;
            }
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For a straight line the errors are those of linear regression: Anscombe's first quartet, as every textbook
    /// prints it (1.125 and 0.118).
    #[test]
    fn errors_of_a_line_are_those_of_linear_regression() {
        let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        let residuals: Vec<f64> = x.iter().zip(y).map(|(x, y)| y - (3.0001 + 0.500_09 * x)).collect();
        let jacobian: Vec<Vec<f64>> = x.iter().map(|&x| vec![1.0, x]).collect();
        let errors = standard_errors(&residuals, &jacobian);
        assert!((errors[0].unwrap() - 1.1247).abs() < 1e-3 && (errors[1].unwrap() - 0.1179).abs() < 1e-4, "{errors:?}");
    }

    #[test]
    fn parameters_that_are_not_determined_have_no_error() {
        let none = standard_errors(&[0.1, 0.2, 0.1], &[vec![1.0, 0.0], vec![2.0, 0.0], vec![1.0, 0.0]]);
        assert!(none[0].is_some() && none[1].is_none());
        let alike = standard_errors(&[0.1, 0.2, 0.1], &[vec![1.0, 2.0], vec![2.0, 4.0], vec![1.0, 2.0]]);
        assert_eq!(alike, [None, None]);
        assert_eq!(standard_errors(&[0.1, 0.2], &[vec![1.0, 0.0], vec![0.0, 1.0]]), [None, None]);
    }
}
