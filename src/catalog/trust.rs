use std::fmt;

/// How far the host trusts a server: the host's word, never the server's. More trusted is less.
///
/// Tools are ranked by what they say, and anybody can say anything. So the tier decides where text
/// cannot: between equals, between tools of one name, and about how many places a server gets.
/// It permits nothing and forbids nothing: that is what filters are for.
///
/// | | named by a request | of equal scores | places in a selection | others fall behind its best tool |
/// |---|---|---|---|---|
/// | trusted | before others of the same name | first | [`per_server`](crate::selection::SelectionOptions::per_server) | yes |
/// | standard | as spelled | then | the same | no: behind the best of theirs |
/// | untrusted | not where a server that is trusted more has the name, unless the request names the server too; not by words with spaces | last | [`per_untrusted_server`](crate::selection::SelectionOptions::per_untrusted_server) | where there are no others |
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum TrustTier {
    /// The host's own servers, or those that it has looked at.
    Trusted,
    /// The default.
    #[default]
    Standard,
    /// Servers of which nobody knows who writes them: found in a registry, added by a user.
    Untrusted,
}

impl TrustTier {
    /// The tier's name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Standard => "standard",
            Self::Untrusted => "untrusted",
        }
    }
}

impl fmt::Display for TrustTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
