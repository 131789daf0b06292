use std::fmt;

use super::{Difference, DifferenceKind, PrefixDiff};

/// An explanation for a person: the verdict on the first line, then what is kept, where the two part
/// and in which values, and what else differs. Ends without a line feed.
impl fmt::Display for PrefixDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kept, readable, written, .. } = self;
        match &self.first {
            None if written.segments == 0 => f.write_str("the same to a cache: all of it holds")?,
            None => write!(f, "the new request extends the old one: the cache holds, {} bytes follow", written.bytes)?,
            Some(first) if first.kind == DifferenceKind::Dialect => {
                write!(f, "no cache holds both: {}", first.cause)?;
            }
            Some(first) => {
                let from = match first.kind {
                    DifferenceKind::Setting => format!("{} on, by {first}", first.section),
                    _ => format!("{first} on"),
                };
                let all = kept.bytes + written.bytes;
                write!(
                    f,
                    "the cache misses from {from}: {}; {} of {all} bytes are written anew",
                    first.cause, written.bytes
                )?;
            }
        }
        write!(
            f,
            "\n kept    {} of {} segments, {} bytes",
            kept.segments,
            kept.segments + self.lost.segments,
            kept.bytes
        )?;
        if readable != kept {
            write!(f, ", {} of them up to a cache mark of the old request", readable.bytes)?;
        }
        if let Some(first) = &self.first {
            if first.old.is_some() || first.new.is_some() {
                write!(f, "\n parts   at byte {} of the prefix", self.at)?;
            }
            for (place, request) in [(&first.old, "old"), (&first.new, "new")] {
                place.iter().try_for_each(|place| {
                    write!(f, "; {} of the {request} request, at byte {}", place.path, place.byte)
                })?;
            }
            fields(first, f)?;
        }
        for other in &self.others {
            write!(f, "\n also    {other}: {}", other.cause)?;
            fields(other, f)?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "\n also    {more} more"),
        }
    }
}

/// Each value on two lines, as it was and as it is.
fn fields(difference: &Difference, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for field in &difference.fields {
        if !field.pointer.is_empty() {
            write!(f, "\n         {}", field.pointer)?;
        }
        field.old.iter().try_for_each(|old| write!(f, "\n         - {old}"))?;
        field.new.iter().try_for_each(|new| write!(f, "\n         + {new}"))?;
    }
    match difference.more_fields {
        0 => Ok(()),
        more => write!(f, "\n         and {more} more, not shown"),
    }
}
