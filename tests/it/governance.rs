//! What the host decides about resources holds, in whatever order it was said and however a server spells a URI.

use std::{fs, sync::Arc, time::Duration};

use proem::{
    catalog::CachePolicy,
    id::ResourceId,
    protocol::{Annotations, Role},
    resources::{DataClass, Decision, Destination, Governance, Refusal, ResourceRule},
};
use proptest::prelude::*;

use crate::fake::id;

fn resource(server: &str, uri: &str) -> ResourceId {
    ResourceId::new(id(server), uri)
}

fn governance(rules: impl IntoIterator<Item = ResourceRule>) -> Governance {
    let classes = Governance::new()
        .with_class(DataClass::new("personal").only_providers(["bedrock"]).forbid_tenant("trial"))
        .and_then(|governance| governance.with_class(DataClass::new("internal").forbid_provider("openai*")))
        .unwrap();
    rules.into_iter().try_fold(classes, Governance::with_rule).unwrap()
}

#[test]
fn without_rules_everything_is_permitted_and_hints_decide() {
    let decision = Governance::default().decide(&resource("a", "file:///a"), Some("text/plain"));
    assert_eq!(decision, Decision::default());
    assert!(decision.permits(&Destination::new()).is_ok());
    assert!(decision.for_model(&Annotations::new()));
    assert!(!decision.for_model(&Annotations::new().with_audience([Role::User])));
    assert_eq!((decision.max_tokens, decision.max_bytes, decision.cache), (None, None, CachePolicy::Server));
}

#[test]
fn a_rule_is_about_what_all_of_its_patterns_match() {
    let rule = ResourceRule::new().with_server("wiki*").with_uri("wiki://photos/*").with_mime_type("Image/*; q=1");
    let governance = governance([rule.deny()]);
    for (server, uri, mime_type, denied) in [
        ("wiki", "wiki://photos/1", Some("image/png"), true),
        ("wiki-eu", "wiki://photos/1", Some("IMAGE/JPEG; charset=binary"), true),
        ("files", "wiki://photos/1", Some("image/png"), false),
        ("Wiki", "wiki://photos/1", Some("image/png"), false),
        ("wiki", "wiki://notes/1", Some("image/png"), false),
        ("wiki", "wiki://photos/1", Some("text/plain"), false),
        ("wiki", "wiki://photos/1", Some(" ; "), false),
        ("wiki", "wiki://photos/1", None, false),
    ] {
        assert_eq!(governance.decide(&resource(server, uri), mime_type).denied, denied, "{server} {uri} {mime_type:?}");
    }
}

#[test]
fn an_audience_of_the_host_replaces_the_hint_and_several_leave_who_is_in_all() {
    let both = ResourceRule::new().with_audience([Role::User, Role::Assistant]);
    let person = ResourceRule::new().with_server("a").with_audience([Role::User]);
    let model = ResourceRule::new().with_uri("x://b").with_audience([Role::Assistant]);
    let governance = governance([both, person, model]);
    let user_only = Annotations::new().with_audience([Role::User]);
    for (server, uri, for_model, audience) in [
        ("b", "x://a", true, vec![Role::User, Role::Assistant]),
        ("a", "x://a", false, vec![Role::User]),
        ("b", "x://b", true, vec![Role::Assistant]),
        ("a", "x://b", false, vec![]),
    ] {
        let decision = governance.decide(&resource(server, uri), None);
        assert_eq!(decision.for_model(&user_only), for_model, "{server} {uri}");
        assert_eq!(decision.for_model(&Annotations::new()), for_model, "{server} {uri}");
        assert_eq!(decision.audience, Some(audience.into_iter().collect()), "{server} {uri}");
    }
}

#[test]
fn what_does_not_surely_match_loosens_nothing() {
    let rule = ResourceRule::new()
        .with_uri("file:///public/*")
        .with_audience([Role::User, Role::Assistant])
        .with_cache(CachePolicy::For(Duration::from_secs(60)));
    let governance = governance([rule]);
    let user_only = Annotations::new().with_audience([Role::User]);
    for (uri, surely) in [("file:///public/a", true), ("file:///public/../a", false), ("file:///public/..%2Fa", false)]
    {
        let decision = governance.decide(&resource("a", uri), None);
        assert_eq!(decision.for_model(&user_only), surely, "{uri}");
        assert!(decision.for_model(&Annotations::new()), "{uri}");
        let cache = if surely { CachePolicy::For(Duration::from_secs(60)) } else { CachePolicy::Never };
        assert_eq!(decision.cache, cache, "{uri}");
    }
}

#[test]
fn classes_decide_where_data_goes_and_fail_closed() {
    let governance = governance([
        ResourceRule::new().with_server("crm").with_class("personal"),
        ResourceRule::new().with_uri("*/plan").with_class("internal"),
    ]);
    let provider = |class: &str, provider: Option<&str>| {
        (format!("data class `{class}` may not go to "), "provider", provider.map(str::to_owned))
    };
    let tenant =
        |tenant: Option<&str>| ("data class `personal` may not go to ".to_owned(), "tenant", tenant.map(str::to_owned));
    for (server, uri, to, expected) in [
        ("crm", "crm://a", Destination::new().with_provider("bedrock").with_tenant("acme"), None),
        (
            "crm",
            "crm://a",
            Destination::new().with_provider("Bedrock").with_tenant("acme"),
            Some(provider("personal", Some("Bedrock"))),
        ),
        ("crm", "crm://a", Destination::new().with_tenant("acme"), Some(provider("personal", None))),
        (
            "crm",
            "crm://a",
            Destination::new().with_provider("bedrock").with_tenant("Trial"),
            Some(tenant(Some("Trial"))),
        ),
        ("crm", "crm://a", Destination::new().with_provider("bedrock"), Some(tenant(None))),
        ("git", "git://x/plan", Destination::new().with_provider("anthropic"), None),
        (
            "git",
            "git://x/plan",
            Destination::new().with_provider("OpenAI-chat"),
            Some(provider("internal", Some("OpenAI-chat"))),
        ),
        ("git", "git://x/a", Destination::new(), None),
    ] {
        let refused =
            governance.decide(&resource(server, uri), None).permits(&to).err().map(|refusal| refusal.to_string());
        let expected = expected.map(|(start, what, name)| match name {
            Some(name) => format!("{start}{what} `{name}`"),
            None => format!("{start}a {what} that is not named"),
        });
        assert_eq!(refused, expected, "{server} {uri} {to:?}");
    }

    let both = governance.decide(&resource("crm", "crm://plan/plan"), None);
    let names: Vec<_> = both.classes.iter().map(|class| class.name()).collect();
    assert_eq!(names, ["internal", "personal"]);
    // A turn knows its tenant, and its provider only when it is rendered.
    assert!(both.permits_tenant("acme").is_ok());
    assert!(both.permits_provider("bedrock").is_ok());
    assert_eq!(
        both.permits_provider(None).unwrap_err().to_string(),
        "data class `internal` may not go to a provider that is not named"
    );
}

#[test]
fn a_denial_wins_over_everything() {
    let governance = governance([
        ResourceRule::new().deny(),
        ResourceRule::new().with_audience([Role::User, Role::Assistant]).with_owner("ada"),
    ]);
    let decision = governance.decide(&resource("a", "x://a"), None);
    assert_eq!(decision.permits(&Destination::new().with_provider("anthropic")), Err(Refusal::Denied));
    assert_eq!(decision.permits_tenant("acme"), Err(Refusal::Denied));
    assert!(!decision.for_model(&Annotations::new()));
    assert_eq!(decision.owner.as_deref(), Some("ada"));
}

#[test]
fn a_rule_or_class_that_would_protect_nothing_is_refused() {
    let message = |governance: proem::Result<Governance>| governance.unwrap_err().to_string();
    let rule = |rule: ResourceRule| message(Governance::new().with_rule(rule));
    assert_eq!(
        rule(ResourceRule::new().with_class("personal")),
        "invalid `rules[0]` of governance: there is no data class `personal`"
    );
    assert_eq!(rule(ResourceRule::new().with_server("a")), "invalid `rules[0]` of governance: it decides nothing");
    assert_eq!(
        rule(ResourceRule::new().with_uri("").deny()),
        "invalid `rules[0]` of governance: the pattern of URIs is empty"
    );
    assert_eq!(
        rule(ResourceRule::new().with_uri("file:///a/../b").deny()),
        "invalid `rules[0]` of governance: the pattern of URIs has `.` or `..` as a segment"
    );
    let class = |name: &str| Governance::new().with_class(DataClass::new("a"))?.with_class(DataClass::new(name));
    assert_eq!(message(class("a")), "invalid `classes[1]` of governance: there is another data class `a`");
    assert_eq!(message(class("\n")), "invalid `classes[1]` of governance: the name of a data class is empty");
}

#[test]
fn a_file_says_the_same_as_code() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("governance.json");
    let text = r#"{"version": 1,
        "classes": [{"name": "personal", "onlyProviders": ["bedrock"], "forbidTenants": ["trial"]},
                    {"name": "internal", "forbidProviders": ["openai*"]}],
        "rules": [{"server": "crm", "owner": "sales", "classes": ["personal"], "cache": {"seconds": 60}},
                  {"uri": "crm://a*", "mimeType": "text/*", "audience": ["assistant"], "maxTokens": 10, "maxBytes": 20},
                  {"classes": ["internal"], "cache": "server"},
                  {"uri": "crm://b", "deny": true, "cache": "never"}]}"#;
    fs::write(&path, text).unwrap();
    let file = Governance::open(&path).unwrap();
    let code = governance([
        ResourceRule::new()
            .with_server("crm")
            .with_owner("sales")
            .with_class("personal")
            .with_cache(CachePolicy::For(Duration::from_secs(60))),
        ResourceRule::new()
            .with_uri("crm://a*")
            .with_mime_type("text/*")
            .with_audience([Role::Assistant])
            .with_max_tokens(10)
            .with_max_bytes(20),
        ResourceRule::new().with_class("internal").with_cache(CachePolicy::Server),
        ResourceRule::new().with_uri("crm://b").deny().with_cache(CachePolicy::Never),
    ]);
    for (server, uri) in [("crm", "crm://a"), ("crm", "crm://b"), ("git", "crm://a"), ("git", "git://a")] {
        let decide = |governance: &Governance| governance.decide(&resource(server, uri), Some("text/plain"));
        assert_eq!(decide(&file), decide(&code), "{server} {uri}");
    }

    fs::write(&path, r#"{"version": 1, "rules": [{"deny": true}, {"url": "a"}]}"#).unwrap();
    let error = Governance::open(&path).unwrap_err().to_string();
    assert!(error.contains("governance.json: `rules[1]`: unknown field `url`"), "{error}");
    assert!(Governance::open(folder.path().join("missing.json")).is_err());
}

fn rules() -> impl Strategy<Value = ResourceRule> {
    let pattern = prop::option::of(prop::sample::select(vec!["*", "x://*", "x://a", "x://a/*", "*b"]));
    let roles = prop::collection::btree_set(prop::sample::select(vec![Role::User, Role::Assistant]), 0..3);
    let cache = prop_oneof![
        Just(CachePolicy::Server),
        Just(CachePolicy::Never),
        (0..4_u64).prop_map(|seconds| CachePolicy::For(Duration::from_secs(seconds))),
    ];
    let class = prop::option::of(prop::sample::select(vec!["personal", "internal"]));
    let limits = (prop::option::of(0..4_usize), prop::option::of(0..4_usize));
    (pattern, class, prop::option::of(roles), prop::option::of(cache), limits, prop::bool::weighted(0.1)).prop_map(
        |(pattern, class, roles, cache, (tokens, bytes), denied)| {
            let rule = pattern.into_iter().fold(ResourceRule::new().with_owner("somebody"), ResourceRule::with_uri);
            let rule = class.into_iter().fold(rule, ResourceRule::with_class);
            let rule = roles.into_iter().fold(rule, ResourceRule::with_audience);
            let rule = cache.into_iter().fold(rule, ResourceRule::with_cache);
            let rule = tokens.into_iter().fold(rule, ResourceRule::with_max_tokens);
            let rule = bytes.into_iter().fold(rule, ResourceRule::with_max_bytes);
            if denied { rule.deny() } else { rule }
        },
    )
}

fn uris() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["x://a", "x://a/b", "x://a?b", "y://b", "x://a/../b", "X://%61", "x://c/%2e%2e/a/b"])
}

proptest! {
    #[test]
    fn the_order_of_rules_does_not_matter(
        (rules, shuffled) in prop::collection::vec(rules(), 0..8)
            .prop_flat_map(|rules| (Just(rules.clone()), Just(rules).prop_shuffle())),
        uri in uris(),
    ) {
        let decide = |rules: Vec<ResourceRule>| governance(rules).decide(&resource("a", uri), None);
        prop_assert_eq!(decide(rules), decide(shuffled));
    }

    #[test]
    fn one_more_rule_never_permits_more(
        few in prop::collection::vec(rules(), 0..6),
        one in rules(),
        uri in uris(),
        provider in prop::option::of(prop::sample::select(vec!["bedrock", "openai-chat", "anthropic"])),
        tenant in prop::option::of(prop::sample::select(vec!["acme", "trial"])),
    ) {
        let decide = |rules: &[ResourceRule]| governance(rules.iter().cloned()).decide(&resource("a", uri), None);
        let (before, after) = (decide(&few), decide(&[few.clone(), vec![one]].concat()));
        let mut to = Destination::new();
        (to.provider, to.tenant) = (provider.map(str::to_owned), tenant.map(str::to_owned));
        prop_assert!(before.permits(&to).is_ok() || after.permits(&to).is_err());
        let least = |limit: Option<usize>| limit.unwrap_or(usize::MAX);
        prop_assert!(least(after.max_tokens) <= least(before.max_tokens));
        prop_assert!(least(after.max_bytes) <= least(before.max_bytes));
        prop_assert!(before.classes.iter().all(|class| after.classes.contains(class)));
        if let Some(audience) = &before.audience {
            prop_assert!(after.audience.is_some_and(|after| after.is_subset(audience)));
        }
    }

    #[test]
    fn whatever_way_a_path_is_spelled_a_denial_holds(
        segments in prop::collection::vec("[a-z]{1,4}", 1..5),
        spelling in prop::collection::vec(0..8_u8, 40),
        query in prop::sample::select(vec!["", "?", "?a=1", "#b", "%3Fa", "?a#b/../.."]),
    ) {
        let path = segments.join("/");
        let rule = ResourceRule::new().with_uri(format!("vault://main/{path}")).deny();
        let mut how = spelling.into_iter().cycle();
        let mut uri = if how.next() == Some(0) { "VAULT://Main".to_owned() } else { "vault://main".to_owned() };
        for segment in &segments {
            uri += match how.next() {
                Some(0) => "//",
                Some(1) => "/./",
                Some(2) => "/x/../",
                Some(3) => "/x/%2e%2E/",
                Some(4) => "%2F",
                Some(5) => "\\",
                Some(6) => "/%252e/",
                _ => "/",
            };
            for c in segment.chars() {
                match how.next() {
                    Some(0) => uri += &format!("%{:02x}", u32::from(c)),
                    Some(1) => uri += &format!("%25{:02X}", u32::from(c)),
                    Some(2) => uri.extend(['\t', c]),
                    _ => uri.push(c),
                }
            }
        }
        uri += query;
        prop_assert!(governance([rule]).decide(&resource("a", &uri), None).denied, "{}", uri);
    }

    #[test]
    fn any_pattern_and_uri_are_compared_or_refused(
        pattern in "\\PC{0,40}",
        uri in "[a-z:/?#%@.*\\\\\\[\\]0-9\\PC]{0,60}",
    ) {
        if let Ok(governance) = Governance::new().with_rule(ResourceRule::new().with_uri(pattern).deny()) {
            let id = ResourceId::new(id("a"), Arc::<str>::from(uri));
            prop_assert_eq!(governance.decide(&id, None), governance.decide(&id, None));
        }
    }
}
