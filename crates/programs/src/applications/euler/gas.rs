//! An inviscid gas: its state, its flux through a surface, and the speed of signals through it.

/// The conserved quantities per volume: mass, three components of momentum, energy. In single precision: 20 bytes per
/// vertex.
pub type GasState = [f32; 5];

/// A direction with an area.
pub type Area = [f32; 3];

/// Ratio of the specific heats of air.
const GAMMA: f32 = 1.4;

/// The state of gas with a density, a velocity and a pressure.
pub fn state(density: f32, velocity: [f32; 3], pressure: f32) -> GasState {
    let [u, v, w] = velocity;
    let energy = pressure / (GAMMA - 1.0) + 0.5 * density * (u * u + v * v + w * w);
    [density, density * u, density * v, density * w, energy]
}

/// Uniform flow along x, slightly upwards, at the given Mach number: density 1, speed of sound 1.
pub fn free_stream(mach: f32) -> GasState {
    let (cosine, sine) = (0.998_629_5, 0.052_335_96); // three degrees
    state(1.0, [mach * cosine, 0.0, mach * sine], 1.0 / GAMMA)
}

/// The pressure of a state.
pub fn pressure([density, x, y, z, energy]: GasState) -> f32 {
    (GAMMA - 1.0) * (energy - 0.5 * (x * x + y * y + z * z) / density)
}

/// The flux through `area` per time, and the speed of the fastest signal through it times its size: |v . n| + c |n|.
pub(super) fn flux(state: GasState, area: Area) -> (GasState, f32) {
    let [density, x, y, z, energy] = state;
    let pressure = pressure(state);
    let volume = (x * area[0] + y * area[1] + z * area[2]) / density;
    let through = [
        density * volume,
        x * volume + pressure * area[0],
        y * volume + pressure * area[1],
        z * volume + pressure * area[2],
        (energy + pressure) * volume,
    ];
    let size = (area[0] * area[0] + area[1] * area[1] + area[2] * area[2]).sqrt();
    let sound = (GAMMA * pressure / density).sqrt();
    (through, volume.abs() + sound * size)
}

/// Floating-point operations of [`fluctuation`]: twice [`flux`], and the combination of the two.
pub(super) const OPERATIONS_AN_EDGE: u64 = 2 * 44 + 1 + 5 * 5;

/// The exchange between two neighbours through the area between them, from `a` to `b`.
pub(super) struct Fluctuation {
    /// The flux out of a beyond that of its own state.
    pub(super) of_a: GasState,
    /// The same for b, with the area pointing the other way.
    pub(super) of_b: GasState,
    /// The fastest signal between the two times the size of the area.
    pub(super) fastest: f32,
}

/// The Rusanov (local Lax-Friedrichs) flux, F = (F_a + F_b) / 2 . n - s (b - a) / 2 with the fastest signal s, less
/// the flux of the neighbour's own state:
///
/// ```text
///   of a     F - F_a . n  =  (F_b - F_a) . n / 2 - s (b - a) / 2
///   of b    -F + F_b . n  =  (F_b - F_a) . n / 2 + s (b - a) / 2
/// ```
///
/// The areas around a vertex add up to zero, and so does what was subtracted; but this way a uniform flow stays
/// unchanged to the last bit.
///
/// Source: Rusanov, "The calculation of the interaction of non-stationary shock waves and obstacles", USSR
/// Computational Mathematics and Mathematical Physics 1(2), 1962.
pub(super) fn fluctuation(a: GasState, b: GasState, area: Area) -> Fluctuation {
    let ((flux_a, fastest_a), (flux_b, fastest_b)) = (flux(a, area), flux(b, area));
    let fastest = fastest_a.max(fastest_b);
    let (mut of_a, mut of_b) = ([0.0; 5], [0.0; 5]);
    for i in 0..5 {
        let central = 0.5 * (flux_b[i] - flux_a[i]);
        let upwind = 0.5 * fastest * (b[i] - a[i]);
        of_a[i] = central - upwind;
        of_b[i] = central + upwind;
    }
    Fluctuation { of_a, of_b, fastest }
}
