use proptest::prelude::*;

use super::*;

const USERS: [&str; 2] = ["ada", "grace"];
const SERVERS: [&str; 2] = ["git", "mail"];
const URIS: [&str; 3] = ["a:1", "a:2", "a:3"];

fn id(server: &str, uri: &str) -> ResourceId {
    ResourceId::new(ServerId::new(server).unwrap(), uri)
}

fn answer(text: &str, ttl: u64, scope: CacheScope) -> Arc<ReadResourceResult> {
    let contents = [ResourceContents::text("a:1", text)];
    let ttl = (ttl > 0).then(|| Duration::from_secs(ttl));
    Arc::new(ReadResourceResult { ttl, scope, ..ReadResourceResult::new(contents) })
}

fn text(found: Option<Arc<ReadResourceResult>>) -> Option<String> {
    found.and_then(|answer| answer.contents[0].text.clone())
}

/// One user's view of one resource.
struct View<'a> {
    cache: &'a ReadCache,
    id: ResourceId,
    user: Authorization,
    now: Instant,
}

impl<'a> View<'a> {
    fn new(cache: &'a ReadCache, user: &str, now: Instant) -> Self {
        Self { cache, id: id("git", "a:1"), user: Authorization::new(user), now }
    }

    fn keep(&self, policy: CachePolicy, answer: &Arc<ReadResourceResult>) {
        self.cache.keep(&self.id, &self.user, policy, answer, self.cache.asking(), self.now);
    }

    fn after(&self, seconds: u64, policy: CachePolicy) -> Option<String> {
        text(self.cache.fresh(&self.id, &self.user, policy, self.now + Duration::from_secs(seconds)))
    }
}

#[test]
fn an_answer_lives_as_long_as_its_server_says_and_is_private_unless_it_says_so() {
    let (cache, now) = (ReadCache::new(), Instant::now());
    let (ada, grace) = (View::new(&cache, "ada", now), View::new(&cache, "grace", now));
    ada.keep(CachePolicy::Server, &answer("private", 5, CacheScope::Private));
    assert_eq!(ada.after(4, CachePolicy::Server).as_deref(), Some("private"));
    assert_eq!((ada.after(5, CachePolicy::Server), grace.after(0, CachePolicy::Server)), (None, None));
    assert_eq!(ada.after(0, CachePolicy::Never), None);

    ada.keep(CachePolicy::Server, &answer("public", 5, CacheScope::Public));
    assert_eq!(grace.after(4, CachePolicy::Server).as_deref(), Some("public"));
    ada.keep(CachePolicy::Server, &answer("not again", 0, CacheScope::Public));
    assert_eq!((ada.after(0, CachePolicy::Server), cache.bytes()), (None, 0));
}

#[test]
fn a_host_that_overrules_a_server_keeps_the_answer_to_itself() {
    let (cache, now) = (ReadCache::new(), Instant::now());
    let (ada, grace) = (View::new(&cache, "ada", now), View::new(&cache, "grace", now));
    let minute = CachePolicy::For(Duration::from_secs(60));
    ada.keep(minute, &answer("for a minute", 0, CacheScope::Public));
    assert_eq!(ada.after(59, minute).as_deref(), Some("for a minute"));
    assert_eq!((ada.after(60, minute), ada.after(0, CachePolicy::Server), grace.after(0, minute)), (None, None, None));

    // What the server gave to all is given for as long as both allow.
    grace.keep(CachePolicy::Server, &answer("public", 5, CacheScope::Public));
    let second = CachePolicy::For(Duration::from_secs(1));
    let linus = View::new(&cache, "linus", now);
    assert_eq!(linus.after(4, minute).as_deref(), Some("public"));
    assert_eq!((linus.after(5, minute), linus.after(1, second)), (None, None));
}

#[test]
fn the_answer_to_an_earlier_question_never_takes_the_place_of_a_later_one() {
    let (cache, now) = (ReadCache::new(), Instant::now());
    let ada = View::new(&cache, "ada", now);
    let (first, second) = (cache.asking(), cache.asking());
    let keep = |asked, text| {
        cache.keep(&ada.id, &ada.user, CachePolicy::Server, &answer(text, 5, CacheScope::Private), asked, now)
    };
    keep(second, "second");
    keep(first, "first");
    assert_eq!(ada.after(0, CachePolicy::Server).as_deref(), Some("second"));

    let late = cache.asking();
    cache.forget(&ada.id, &ada.user);
    assert_eq!((ada.after(0, CachePolicy::Server), cache.bytes()), (None, 0));
    keep(late, "asked for before the news");
    assert_eq!(ada.after(0, CachePolicy::Server), None);
    keep(cache.asking(), "asked for after the news");
    assert!(ada.after(0, CachePolicy::Server).is_some());
    cache.forget_server(&ada.id.server);
    assert_eq!(ada.after(0, CachePolicy::Server), None);
}

#[test]
fn one_answer_never_costs_the_others_and_the_oldest_gives_way() {
    let now = Instant::now();
    let cache = ReadCache::with_max_bytes(64 << 10);
    let user = Authorization::default();
    let keep = |i: usize, bytes: usize| {
        let answer = answer(&"x".repeat(bytes), 60, CacheScope::Private);
        cache.keep(&id("git", &format!("a:{i}")), &user, CachePolicy::Server, &answer, cache.asking(), now);
    };
    let is_there = |i: usize| cache.fresh(&id("git", &format!("a:{i}")), &user, CachePolicy::Server, now).is_some();
    keep(0, 8 << 10);
    assert!(!is_there(0) && cache.bytes() == 0);
    for i in 1..=9 {
        keep(i, 7 << 10);
        assert!(is_there(1), "used all the time");
    }
    assert!(!is_there(2) && is_there(9));
    // An entry of almost nothing has its cost too.
    for i in 10..10_000 {
        keep(i, 0);
    }
    assert!(cache.bytes() <= 64 << 10 && cache.state().kept.len() < 300, "{}", cache.state().kept.len());
}

#[test]
fn what_stands_beside_the_contents_is_counted() {
    let bare = ReadResourceResult::new([]);
    let mut full = bare.clone();
    full.extra.insert("a".repeat(1_000), serde_json::json!({"b": ["c".repeat(1_000), vec![0; 1_000]]}));
    let id = id("git", "a:1");
    assert!(weight(&id, &full) - weight(&id, &bare) > 1_000 + 1_000 + 1_000 * size_of::<Value>());
}

#[derive(Clone, Debug)]
enum Step {
    Ask { user: usize, server: usize, uri: usize },
    Answer { which: prop::sample::Index, ttl: u64, scope: CacheScope, bytes: usize, policy: CachePolicy },
    Change { server: usize, uri: usize },
    Restart { server: usize },
    Wait(u64),
}

fn policy() -> impl Strategy<Value = CachePolicy> {
    prop_oneof![
        3 => Just(CachePolicy::Server),
        1 => Just(CachePolicy::Never),
        2 => (0..8_u64).prop_map(|seconds| CachePolicy::For(Duration::from_secs(seconds))),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let scope = prop_oneof![Just(CacheScope::Private), Just(CacheScope::Public)];
    prop_oneof![
        4 => (0..2_usize, 0..2_usize, 0..3_usize).prop_map(|(user, server, uri)| Step::Ask { user, server, uri }),
        4 => (any::<prop::sample::Index>(), 0..8_u64, scope, 0..1_200_usize, policy())
            .prop_map(|(which, ttl, scope, bytes, policy)| Step::Answer { which, ttl, scope, bytes, policy }),
        1 => (0..2_usize, 0..3_usize).prop_map(|(server, uri)| Step::Change { server, uri }),
        1 => (0..2_usize).prop_map(|server| Step::Restart { server }),
        2 => (0..4_u64).prop_map(Step::Wait),
    ]
}

/// What an answer says of itself in its text, before what fills it up.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Said {
    version: u64,
    user: usize,
    read_at: u64,
    ttl: u64,
    private: bool,
}

impl Said {
    fn text(self, bytes: usize) -> String {
        let Self { version, user, read_at, ttl, private } = self;
        format!("{version} {user} {read_at} {ttl} {} {}", u64::from(private), "x".repeat(bytes))
    }

    fn read(text: &str) -> Self {
        let numbers: Vec<u64> = text.split(' ').take(5).map(|number| number.parse().unwrap()).collect();
        let [version, user, read_at, ttl, private] = numbers[..] else { panic!("{text}") };
        Self { version, user: user as usize, read_at, ttl, private: private == 1 }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn never_more_than_its_bytes_never_stale_and_never_to_another_user(steps in prop::collection::vec(step(), 1..120), look in policy()) {
        let start = Instant::now();
        let cache = ReadCache::with_max_bytes(8 << 10);
        let users = USERS.map(Authorization::new);
        let mut versions = [[0_u64; 3]; 2];
        let mut waiting = Vec::new();
        let mut seconds = 0;
        for step in steps {
            let now = start + Duration::from_secs(seconds);
            match step {
                // At worst a server answers with what stood when it was asked.
                Step::Ask { user, server, uri } => waiting.push((cache.asking(), user, server, uri, versions[server][uri])),
                Step::Answer { which, ttl, scope, bytes, policy } if !waiting.is_empty() => {
                    let (asked, user, server, uri, version) = waiting.swap_remove(which.index(waiting.len()));
                    let private = scope == CacheScope::Private;
                    let said = Said { version, user, read_at: seconds, ttl, private };
                    let answer = answer(&said.text(bytes), ttl, scope);
                    cache.keep(&id(SERVERS[server], URIS[uri]), &users[user], policy, &answer, asked, now);
                }
                Step::Answer { .. } => {}
                Step::Change { server, uri } => {
                    versions[server][uri] += 1;
                    for user in &users {
                        cache.forget(&id(SERVERS[server], URIS[uri]), user);
                    }
                }
                Step::Restart { server } => {
                    versions[server].iter_mut().for_each(|version| *version += 1);
                    cache.forget_server(&ServerId::new(SERVERS[server]).unwrap());
                }
                Step::Wait(more) => seconds += more,
            }
            prop_assert!(cache.bytes() <= 8 << 10);
            let sum: usize = cache.state().kept.iter().map(|(_, kept)| kept.bytes).sum();
            prop_assert_eq!(cache.bytes(), sum);
            let now = start + Duration::from_secs(seconds);
            for (server, user) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                for (uri, version) in versions[server].iter().enumerate() {
                    let found = cache.fresh(&id(SERVERS[server], URIS[uri]), &users[user], look, now);
                    let Some(said) = text(found).map(|text| Said::read(&text)) else { continue };
                    prop_assert_eq!(said.version, *version, "{:?} after {} s", said, seconds);
                    prop_assert!(said.user == user || !said.private, "{:?} for user {}", said, user);
                    let age = seconds - said.read_at;
                    match look {
                        CachePolicy::Server => prop_assert!(age < said.ttl),
                        CachePolicy::Never => prop_assert!(false),
                        CachePolicy::For(host) => {
                            prop_assert!(age < host.as_secs());
                            prop_assert!(said.user == user || age < said.ttl);
                        }
                    }
                }
            }
        }
    }
}
