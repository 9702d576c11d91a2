//! The collectives of the list, as programs of the catalogue: a line each.

use programs::Group;
use programs::all_reduce::{Number, Operation, Operator};
use programs::catalogue::Parameters;
use programs::collectives::{self, Collective, CollectiveProgram, Data, Row, Sizes};
use programs::postal::Lambda;
use quantities::{Bytes, Rank};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::collective::{Named, RankOrder};
use super::{Entry, Size};
use crate::{Error, Prepared, Ready, Site};

/// The parameters of a collective besides its algorithm. A collective that has no use for one of them has no such parameter.
#[derive(Clone, Copy)]
struct Given {
    bytes: Size,
    root: Rank,
    operator: Operator,
    order: RankOrder,
}

const DEFAULT: Given = Given {
    bytes: Size(Bytes(1024)),
    root: Rank(0),
    operator: Operator::Of(Operation::Sum, Number::F64),
    order: RankOrder::Cyclic,
};

/// Makes the entry of a collective of the list: its parameters, of which the order of the ranks is the last, and examples.
macro_rules! entry {
    ($entry:ident, $file:ident, $examples:literal, { $($(#[$about:meta])* $field:ident: $type:ty,)* }) => {
        #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        #[schemars(description = collectives::$file::$entry::ABOUT)]
        #[doc = concat!("The parameters of [`collectives::", stringify!($file), "`].")]
        pub struct $entry {
            $($(#[$about])* $field: $type,)*
            /// The algorithm; if left out, one that suits the number of nodes and the size.
            #[serde(skip_serializing_if = "Option::is_none")]
            algorithm: Option<Named<collectives::$file::Algorithm>>,
            /// The order of the ranks.
            #[schemars(extend("x-value" = "ORDER"))]
            order: RankOrder,
        }

        impl Default for $entry {
            fn default() -> $entry {
                $entry { $($field: DEFAULT.$field,)* algorithm: None, order: DEFAULT.order }
            }
        }

        impl Entry for $entry {
            const NAME: &'static str = collectives::$file::$entry::NAME;
            const EXAMPLES: &'static str = $examples;

            fn prepare(&self, site: &mut Site) -> Result<Box<dyn Ready>, Error> {
                let mut given = DEFAULT;
                given.order = self.order;
                $(given.$field = self.$field;)*
                let stated = [$(stringify!($field),)*];
                let name = self.algorithm.map(|Named(entry)| entry.name);
                Ok(Box::new(prepared(Collective::$entry, name, given, &stated, site)?))
            }
        }
    };
}

entry!(Barrier, barrier, "Example:\n  maquette run barrier --machine parsytec-cc-16 --algorithm binomial", {});
entry!(Gather, gather, "Example:\n  maquette run gather --machine parsytec-cc-16 --bytes 4KiB --root 3", {
    /// Size of each node's data.
    bytes: Size,
    /// The root, which ends with all data.
    root: Rank,
});
entry!(Scatter, scatter, "Example:\n  maquette run scatter --machine parsytec-cc-16 --bytes 4KiB --algorithm linear", {
    /// Size of the block for each node.
    bytes: Size,
    /// The root, which begins with all data.
    root: Rank,
});
entry!(AllGather, all_gather, "Example:\n  maquette run all-gather --machine infiniband-128 --bytes 64KiB --algorithm ring", {
    /// Size of each node's data.
    bytes: Size,
});
entry!(Reduce, reduce, "Example:\n  maquette run reduce --machine parsytec-cc-16 --bytes 4KiB --operator max-i64", {
    /// Size of each node's data.
    bytes: Size,
    /// The operator: sum, product, min or max of f64, f32, i64 or u64, such as sum-f64; and, or, xor.
    operator: Operator,
    /// The root, which ends with the result.
    root: Rank,
});
entry!(ReduceScatter, reduce_scatter, "Example:\n  maquette run reduce-scatter --machine infiniband-128 --bytes 64KiB", {
    /// Size of each node's block of the result.
    bytes: Size,
    /// The operator: sum, product, min or max of f64, f32, i64 or u64, such as sum-f64; and, or, xor.
    operator: Operator,
});
entry!(Scan, scan, "Example:\n  maquette run scan --machine parsytec-cc-16 --operator sum-u64 --bytes 8", {
    /// Size of each node's data.
    bytes: Size,
    /// The operator: sum, product, min or max of f64, f32, i64 or u64, such as sum-f64; and, or, xor.
    operator: Operator,
});
entry!(Exscan, exscan, "Example:\n  maquette run exscan --machine parsytec-cc-16 --operator sum-u64 --bytes 8", {
    /// Size of each node's data.
    bytes: Size,
    /// The operator: sum, product, min or max of f64, f32, i64 or u64, such as sum-f64; and, or, xor.
    operator: Operator,
});

/// The program for `site`: a collective by the algorithm called `name`, or its usual one, with the parameters that are `stated`.
fn prepared(
    collective: Collective,
    name: Option<&'static str>,
    given: Given,
    stated: &[&str],
    site: &Site,
) -> Result<Prepared<CollectiveProgram>, Error> {
    let Given { bytes: Size(bytes), root, operator, order } = given;
    let ranks = site.ranks()?;
    Site::check_rank("root", root, ranks)?;
    // A permuted group begins with its root.
    let (group, place) = match order {
        RankOrder::Cyclic => (Group::from_source(Rank(0), ranks)?, root),
        RankOrder::Permuted => (Group::permuted(root, ranks, site.seed)?, Rank(0)),
    };
    let name = name.unwrap_or_else(|| collective.usual(ranks, bytes));
    let algorithm = collective.algorithm(name, &mut Parameters::of(ranks));
    let algorithm = algorithm.ok_or_else(|| Error::parameter("algorithm", name, collective.algorithms().join(", ")))?;
    let algorithm = algorithm.map_err(|missing| Error::parameter("algorithm", name, missing))?;
    let longest = algorithm.cost(Lambda::ONE, ranks, bytes).chain.into_iter().map(|stretch| stretch.bytes).max();
    site.check_largest("bytes", longest.unwrap_or(bytes))?;
    let is_permuted = order == RankOrder::Permuted;
    let all = [
        ("bytes", json!(bytes.0), stated.contains(&"bytes")),
        ("root", json!(root.0), stated.contains(&"root")),
        ("operator", json!(operator.to_string()), stated.contains(&"operator")),
        ("order", json!(order.name()), is_permuted),
        ("algorithm", json!(name), true),
    ];
    let parameters: Map<String, Value> =
        all.into_iter().filter(|all| all.2).map(|(name, value, _)| (name.to_owned(), value)).collect();
    let data = if site.is_real { Data::Bytes } else { Data::Sizes };
    let sizes = Sizes::Same(bytes);
    let program = CollectiveProgram { algorithm, group, root: place, operator, sizes, data };
    let mut prepared = Prepared::new(program, ranks, Value::Object(parameters));
    prepared.notes.draws = is_permuted;
    Ok(prepared)
}
