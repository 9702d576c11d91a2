//! What holds for every study.

use std::collections::BTreeSet;

use super::*;

/// Every claim of `paper` has exactly one of `studies`, and there are so many claims.
fn has_one_study_for_each<J, A>(paper: &Paper, studies: &[Study<J, A>], claims: usize) {
    assert_eq!(paper.claims.len(), claims, "{}", paper.key);
    for claim in &paper.claims {
        let treated = studies.iter().filter(|study| study.claims.contains(&claim.id.as_str())).count();
        assert_eq!(treated, 1, "{}", claim.id);
    }
    let known: BTreeSet<&str> = paper.claims.iter().map(|claim| claim.id.as_str()).collect();
    assert!(studies.iter().flat_map(|study| study.claims).all(|id| known.contains(id)), "{}", paper.key);
}

#[test]
fn every_claim_has_exactly_one_study() {
    has_one_study_for_each(&moc::paper(), &moc::STUDIES, 17);
    has_one_study_for_each(&postal::paper(), &postal::STUDIES, 13);
    has_one_study_for_each(&cm5::paper(), &cm5::STUDIES, 10);
    has_one_study_for_each(&lh::paper(), &lh::STUDIES, 13);
    has_one_study_for_each(&bcast::paper(), &bcast::STUDIES, 6);
}

/// A report has nothing that a browser would fetch.
pub(super) fn fetches_nothing(html: &str) {
    for forbidden in ["http:", "https:", "<script", "@import", "url(", " src="] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
}
