//! Some ranks of a program, in an order.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use collectives::Group;
use quantities::Rank;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The most ranks of a list: as many as a program has.
const MOST: u64 = 1 << 24;

/// Ranks in an order, written as numbers and ranges: `5,1,3,7` or `0-7,12`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankList(Group);

impl RankList {
    /// They as a group.
    pub fn group(&self) -> &Group {
        &self.0
    }
}

impl FromStr for RankList {
    type Err = String;

    fn from_str(text: &str) -> Result<RankList, String> {
        let allowed = || "allowed are ranks such as 5,1,3,7 or 0-7,12".to_owned();
        let mut ranks = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| text.trim().parse::<u32>().map_err(|_| allowed());
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(format!("{first}-{last} ends before it begins; {}", allowed()));
            }
            if ranks.len() as u64 + u64::from(last - first) >= MOST {
                return Err(format!("allowed are at most {MOST} ranks"));
            }
            ranks.extend((first..=last).map(Rank));
        }
        Group::listed(ranks).map(RankList).map_err(|error| error.to_string())
    }
}

impl fmt::Display for RankList {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut places = 0..self.0.len();
        let mut separator = "";
        while let Some(place) = places.next() {
            let Rank(first) = self.0.rank_at(place);
            let mut last = first;
            while places.start < places.end && self.0.rank_at(places.start) == Rank(last + 1) {
                last += 1;
                places.next();
            }
            match last - first {
                0 => write!(out, "{separator}{first}")?,
                _ => write!(out, "{separator}{first}-{last}")?,
            }
            separator = ",";
        }
        Ok(())
    }
}

impl Serialize for RankList {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// What a list is written as.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Ranks(Vec<u32>),
}

impl<'de> Deserialize<'de> for RankList {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<RankList, D::Error> {
        match Written::deserialize(from)? {
            Written::Text(text) => text.parse().map_err(D::Error::custom),
            Written::Ranks(ranks) => {
                Group::listed(ranks.into_iter().map(Rank).collect()).map(RankList).map_err(D::Error::custom)
            }
        }
    }
}

impl JsonSchema for RankList {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RankList".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "x-value": "RANKS", "pattern": "^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_written_as_it_is_read() {
        for (text, written) in
            [("5,1,3,7", "5,1,3,7"), ("0,1,2,3", "0-3"), ("4-6,0", "4-6,0"), ("9", "9"), ("1-2,3", "1-3")]
        {
            assert_eq!(text.parse::<RankList>().unwrap().to_string(), written, "{text}");
        }
        let ranks: RankList = serde_json::from_str("[5, 1, 3, 7]").unwrap();
        assert_eq!(serde_json::to_string(&ranks).unwrap(), r#""5,1,3,7""#);
    }

    #[test]
    fn what_is_no_list_is_an_error() {
        let error = |text: &str| text.parse::<RankList>().unwrap_err();
        assert_eq!(error("5;1"), "allowed are ranks such as 5,1,3,7 or 0-7,12");
        assert_eq!(error("7-4"), "7-4 ends before it begins; allowed are ranks such as 5,1,3,7 or 0-7,12");
        assert_eq!(error("1,2,1"), "rank 1 is twice in a group, where it may be once");
        assert_eq!(error("0-4294967295"), "allowed are at most 16777216 ranks");
    }
}
