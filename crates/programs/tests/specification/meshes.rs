//! Delaunay tetrahedralisations, checked by their defining properties.

use std::collections::{BTreeMap, BTreeSet};

use maquette_programs::applications::mesh::{
    Body, Mesh, MeshError, Point, cross, difference, dot, graded, tetrahedralise, uniform,
};
use proptest::prelude::*;
use robust::Coord3D;

/// Points anywhere, and points on a coarse grid: many on one sphere, in one plane, on one line.
fn points() -> impl Strategy<Value = Vec<Point>> {
    let on_grid = prop::collection::btree_set((0u8..4, 0u8..4, 0u8..4), 4..40)
        .prop_map(|places| places.into_iter().map(|(x, y, z)| [x, y, z].map(f64::from)).collect());
    prop_oneof![(4u32..60, any::<u64>()).prop_map(|(count, seed)| uniform(count, seed)), on_grid]
}

fn meshes() -> impl Strategy<Value = Mesh> {
    let flat = |error: &MeshError| matches!(error, MeshError::Flat { .. });
    points().prop_filter_map("the points lie in one plane", move |points| match tetrahedralise(points) {
        Ok(mesh) => Some(mesh),
        Err(error) => {
            assert!(flat(&error), "{error}");
            None
        }
    })
}

/// The triangles of a mesh, each with the tetrahedra that it belongs to.
fn faces(mesh: &Mesh) -> BTreeMap<[u32; 3], Vec<usize>> {
    let mut faces: BTreeMap<[u32; 3], Vec<usize>> = BTreeMap::new();
    for (number, corners) in mesh.tetrahedra().iter().enumerate() {
        for left_out in 0..4 {
            let mut face: Vec<u32> = (0..4).filter(|&i| i != left_out).map(|i| corners[i]).collect();
            face.sort_unstable();
            faces.entry([face[0], face[1], face[2]]).or_default().push(number);
        }
    }
    faces
}

fn sorted(mut face: [u32; 3]) -> [u32; 3] {
    face.sort_unstable();
    face
}

/// Points minus edges plus triangles minus tetrahedra, counting only points with edges.
fn euler_characteristic(mesh: &Mesh) -> i64 {
    let edges = mesh.edges();
    let ends: BTreeSet<u32> = edges.iter().flatten().copied().collect();
    ends.len() as i64 - edges.len() as i64 + faces(mesh).len() as i64 - mesh.tetrahedra().len() as i64
}

fn at(mesh: &Mesh, number: u32) -> Point {
    mesh.points()[number as usize]
}

fn space([x, y, z]: Point) -> Coord3D<f64> {
    Coord3D { x, y, z }
}

/// Six times the volume of a tetrahedron.
fn six_volumes(a: Point, b: Point, c: Point, d: Point) -> f64 {
    dot(difference(a, d), cross(difference(b, d), difference(c, d)))
}

/// Six times the volume, computed in two ways: from all tetrahedra, and from the triangles of the hull and any point.
fn volumes(mesh: &Mesh) -> (f64, f64) {
    let inside =
        mesh.tetrahedra().iter().map(|&[a, b, c, d]| six_volumes(at(mesh, a), at(mesh, b), at(mesh, c), at(mesh, d)));
    let first = at(mesh, 0);
    let hull = mesh.hull().iter().map(|&[a, b, c]| six_volumes(at(mesh, a), at(mesh, b), at(mesh, c), first));
    (inside.sum(), hull.sum())
}

fn nearly(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tetrahedra_fill_the_hull_and_meet_face_to_face(mesh in meshes()) {
        prop_assert_eq!(euler_characteristic(&mesh), 1);
        let faces = faces(&mesh);
        prop_assert!(faces.values().all(|sides| sides.len() <= 2));
        let outside: BTreeSet<[u32; 3]> =
            faces.iter().filter(|(_, sides)| sides.len() == 1).map(|(face, _)| *face).collect();
        let hull: BTreeSet<[u32; 3]> = mesh.hull().iter().copied().map(sorted).collect();
        prop_assert_eq!(outside, hull);
        let used: BTreeSet<u32> = mesh.tetrahedra().iter().flatten().copied().collect();
        prop_assert_eq!(used.len(), mesh.points().len());
        for &[a, b, c, d] in mesh.tetrahedra() {
            let [a, b, c, d] = [a, b, c, d].map(|number| space(at(&mesh, number)));
            prop_assert!(robust::orient3d(a, b, c, d) > 0.0);
        }
        let (tetrahedra, hull) = volumes(&mesh);
        prop_assert!(nearly(tetrahedra, hull), "{tetrahedra} {hull}");
    }

    #[test]
    fn no_point_lies_within_the_sphere_of_a_tetrahedron(mesh in meshes()) {
        for &[a, b, c, d] in mesh.tetrahedra() {
            let [a, b, c, d] = [a, b, c, d].map(|number| space(at(&mesh, number)));
            for &point in mesh.points() {
                prop_assert!(robust::insphere(a, b, c, d, space(point)) <= 0.0);
            }
        }
    }

    #[test]
    fn no_point_lies_beyond_the_hull(mesh in meshes()) {
        for &[a, b, c] in mesh.hull() {
            let [a, b, c] = [a, b, c].map(|number| space(at(&mesh, number)));
            for &point in mesh.points() {
                prop_assert!(robust::orient3d(a, b, c, space(point)) >= 0.0);
            }
        }
    }

    #[test]
    fn the_same_points_give_the_same_mesh(points in points()) {
        prop_assert_eq!(tetrahedralise(points.clone()), tetrahedralise(points));
    }
}

/// On a grid of integers, volumes are exact.
#[test]
fn a_grid_of_cubes_is_filled_exactly() {
    let points = (0..343u32).map(|i| [i % 7, i / 7 % 7, i / 49].map(f64::from)).collect();
    let mesh = tetrahedralise(points).unwrap();
    let six_volumes = 6.0 * 6.0 * 6.0 * 6.0;
    assert_eq!(volumes(&mesh), (six_volumes, six_volumes));
    assert_eq!(euler_characteristic(&mesh), 1);
}

#[test]
fn thousands_of_points_are_no_trouble() {
    for points in [uniform(9_000, 1), graded(9_000, 1, &Body::WING, 0.15)] {
        let mesh = tetrahedralise(points).unwrap();
        assert_eq!(euler_characteristic(&mesh), 1);
        let (tetrahedra, hull) = volumes(&mesh);
        assert!(nearly(tetrahedra, hull), "{tetrahedra} {hull}");
        // A random point has 15.5 neighbours on average, those near the hull fewer.
        let neighbours = 2.0 * mesh.edges().len() as f64 / 9_000.0;
        assert!((14.5..15.6).contains(&neighbours), "{neighbours}");
    }
}

#[test]
fn graded_points_are_dense_around_the_body() {
    let (body, points) = (Body::WING, graded(4_000, 3, &Body::WING, 0.1));
    assert_eq!(points.len(), 4_000);
    let within = |distance: f64, points: &[Point]| points.iter().filter(|&&p| body.distance(p) < distance).count();
    assert!(within(0.1, &points) > 3 * within(0.1, &uniform(4_000, 3)));
}

#[test]
fn what_has_no_tetrahedralisation_is_an_error() {
    let corner = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let with = |point: Point| tetrahedralise(corner.into_iter().chain([point]).collect()).unwrap_err();
    assert_eq!(with([0.0, 1.0, 0.0]), MeshError::SamePlace { first: 2, second: 4 });
    let error = with([0.0, f64::NAN, 0.0]);
    assert_eq!(error.to_string(), "point 4 has the coordinate NaN; allowed is a number from -1e50 to 1e50");
    assert!(matches!(with([0.0, 0.0, -2e50]), MeshError::Coordinate { point: 4, .. }));

    assert_eq!(tetrahedralise(Vec::new()).unwrap_err(), MeshError::Flat { points: 0 });
    assert_eq!(tetrahedralise(vec![[1.0; 3]; 5]).unwrap_err(), MeshError::Flat { points: 5 });
    let line = (0..9).map(|i| [f64::from(i), f64::from(2 * i), f64::from(3 * i)]).collect();
    assert_eq!(tetrahedralise(line).unwrap_err(), MeshError::Flat { points: 9 });
    let plane = (0..9).map(|i| [f64::from(i % 3), f64::from(i / 3), f64::from(i % 3 + i / 3)]).collect();
    assert_eq!(tetrahedralise(plane).unwrap_err(), MeshError::Flat { points: 9 });
}
