use proem::{
    Error,
    catalog::Catalog,
    prompts::{Commands, MAX_VALUE_BYTES, check_arguments},
    protocol::{CompletionTarget, Prompt, PromptArgument},
};
use proptest::prelude::*;

use crate::fake::id;

fn commands(prompts: &[(&str, &str)]) -> Commands {
    let prompts = prompts.iter().copied();
    Commands::new(
        &prompts
            .fold(Catalog::builder(), |catalog, (server, name)| catalog.prompt(id(server), Prompt::new(name, "")))
            .build(),
    )
}

fn listed(commands: &Commands) -> Vec<&str> {
    commands.all().iter().map(|command| command.command.as_str()).collect()
}

/// Commands of one prompt `reply` on a desk, with these arguments.
fn reply(arguments: &[&str]) -> Commands {
    let prompt = arguments.iter().fold(Prompt::new("reply", ""), |prompt, name| prompt.with_argument(*name, false));
    Commands::new(&Catalog::builder().prompt(id("desk"), prompt).build())
}

#[track_caller]
fn typed(commands: &Commands, line: &str) -> Vec<(String, String)> {
    commands.parse(line).unwrap().arguments().clone().into_iter().collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn commands_are_apart_whatever_the_prompts_are_called() {
    let apart = commands(&[("a", "x"), ("b", "x"), ("c", "y"), ("d", "a:x"), ("e", "e")]);
    assert_eq!(listed(&apart), ["/a:x", "/b:x", "/y", "/d:a:x", "/e"]);
    // What would be another prompt's command as soon as its server has one is qualified already.
    assert_eq!(listed(&commands(&[("a", "x"), ("d", "a:y")])), ["/x", "/d:a:y"]);
    // A colon in a server's name is not that of a command.
    assert_eq!(listed(&commands(&[("a", "b:c"), ("a:b", "c"), ("z", "c")])), ["/b:c", "/a%3Ab:c", "/z:c"]);
}

#[test]
fn names_that_a_person_cannot_tell_apart_carry_their_servers() {
    for other in ["Draft", "ＤＲＡＦＴ", "dra\u{200b}ft", "\u{202e}draft", "dra\u{200d}ft"] {
        let commands = commands(&[("a", "draft"), ("b", other)]);
        let listed = listed(&commands);
        assert!(listed[0] == "/a:draft" && listed[1].contains("b:"), "{listed:?}");
        assert!(commands.find("draft").unwrap_err().to_string().contains("/a:draft, "), "{other:?}");
    }
    // On one server they are that server's affair, and each is found as it is spelled.
    let commands = commands(&[("a", "draft"), ("a", "Draft")]);
    assert_eq!(listed(&commands), ["/Draft", "/draft"]);
    assert_eq!(&*commands.find("/Draft").unwrap().entry.id.name, "Draft");
}

#[test]
fn the_qualified_form_is_always_taken_and_an_ambiguous_one_never() {
    let commands = commands(&[("a", "x"), ("b", "x"), ("c", "y")]);
    for name in ["c:y", "/c:y", "y", "/y"] {
        assert_eq!(commands.find(name).unwrap().entry.id.to_string(), "c/y");
    }
    let error = commands.find("x").unwrap_err();
    assert_eq!(error.to_string(), "invalid command `/x`: several prompts are called so: /a:x, /b:x");
    for name in ["", "/", "//y", "Y", "y ", "a:y", "c:"] {
        assert!(commands.find(name).unwrap_err().is_not_found(), "{name:?}");
    }
}

#[test]
fn an_unknown_command_names_those_that_are_near_and_no_more() {
    let many: Vec<String> = (0..1_000).map(|i| format!("draft_reply_{i:03}")).collect();
    let mut prompts: Vec<(&str, &str)> = many.iter().map(|name| ("desk", name.as_str())).collect();
    prompts.push(("mail", "send"));
    let commands = commands(&prompts);
    let error = commands.parse("/sned now").unwrap_err();
    assert_eq!(error.to_string(), "no prompt is called `/sned`; there is /send");
    let Error::UnknownCommand { near, .. } = commands.find("draft_repyl_001").unwrap_err() else { panic!() };
    assert!(near.len() <= 5 && near[0] == "/draft_reply_001", "{near:?}");
    let far = commands.find(&"q".repeat(100_000)).unwrap_err().to_string();
    assert!(far.len() < 500 && !far.contains("there is"), "{far}");
}

#[test]
fn labels_and_commands_are_harmless_to_show() {
    let mut prompt = Prompt::new("safe\u{202e}txt\u{1b}[31m", "one\r\ntwo\u{2066}");
    prompt.title = Some(format!("Title\u{200f}\n{}", "x".repeat(500)));
    let catalog = Catalog::builder().prompt(id("desk"), prompt).build();
    let commands = Commands::new(&catalog);
    let command = &commands.all()[0];
    assert_eq!(command.command, r"/$'safe\u202etxt\u001b[31m'");
    assert!(command.label().starts_with(r"Title\u{200f} xxx") && command.label().chars().count() == 80);
    assert_eq!(command.description().unwrap(), r"one  two\u{2066}");
    // The server is asked by the name as it is.
    assert_eq!(&*commands.parse(&command.command).unwrap().id().name, "safe\u{202e}txt\u{1b}[31m");
}

#[test]
fn a_typed_line_gives_arguments_in_order_and_by_name() {
    let two = reply(&["ticket", "tone"]);
    let both = pairs(&[("ticket", "T-1"), ("tone", "very kind")]);
    for line in [
        "/reply T-1 very kind",
        "/reply T-1 'very kind'",
        "/reply 'T-1' \"very kind\"",
        "/reply T-1 very\\ kind",
        "/reply ticket=T-1 tone='very kind'",
        "/reply tone='very kind' T-1",
        "/reply ticket=T-1 very kind",
        "  /desk:reply\tT-1\n very kind  ",
    ] {
        assert_eq!(typed(&two, line), both, "{line}");
    }
    assert_eq!(typed(&two, "/reply"), []);
    assert_eq!(typed(&two, "/reply T-1"), pairs(&[("ticket", "T-1")]));
    assert_eq!(typed(&two, "/reply ticket=''"), pairs(&[("ticket", "")]));
    assert_eq!(typed(&two, "/reply ticket=a=b"), pairs(&[("ticket", "a=b")]));
    assert_eq!(typed(&two, "/reply https://a.example/?q=1"), pairs(&[("ticket", "https://a.example/?q=1")]));
    assert_eq!(typed(&two, "/reply 'x=1'"), pairs(&[("ticket", "x=1")]));
}

#[test]
fn the_last_argument_takes_the_rest_of_the_line_as_it_was_typed() {
    let one = reply(&["question"]);
    for rest in
        ["what's new?", "\"quoted\" and more", "two  spaces", "first\n\nsecond", "'open", "C:\\dir \\ x", "why is a=b?"]
    {
        assert_eq!(typed(&one, &format!("/reply {rest}")), pairs(&[("question", rest)]), "{rest}");
    }
    assert_eq!(typed(&one, "/reply '  kept  '"), pairs(&[("question", "  kept  ")]));
}

#[test]
fn a_slip_is_refused_rather_than_sent() {
    let two = reply(&["ticket", "tone"]);
    for (line, expected) in [
        ("reply T-1", "invalid command `reply T-1`: it does not begin with `/`"),
        ("/", "invalid command `/`: no name follows the `/`"),
        ("/ reply", "invalid command `/ reply`: no name follows the `/`"),
        (
            "/reply tnoe=kind",
            "invalid arguments of prompt reply: `tnoe` is not one of its arguments; there is tone. \
             A value that holds `=` is given by name: tone=tnoe=…",
        ),
        ("/reply ticket=1 ticket=2", "invalid arguments of prompt reply: `ticket` is given twice"),
        ("/reply ticket=1 tone=2 more", "invalid arguments of prompt reply: none is left that could take `more`"),
        ("/reply 'T-1 kind", "invalid arguments of prompt reply: a quote is not closed"),
        ("/reply T-1 tone='kind", "invalid arguments of prompt reply: a quote is not closed"),
    ] {
        assert_eq!(two.parse(line).unwrap_err().to_string(), expected, "{line}");
    }
    let none = reply(&[]);
    assert_eq!(
        none.parse("/reply now").unwrap_err().to_string(),
        "invalid arguments of prompt reply: it has none that could take `now`"
    );
    assert_eq!(
        none.parse("/reply x=1").unwrap_err().to_string(),
        "invalid arguments of prompt reply: `x` is not one: it has none"
    );
}

#[test]
fn words_of_a_shell_mean_the_same() {
    let two = reply(&["ticket", "tone"]);
    for words in [&["T-1", "very kind"] as &[&str], &["T-1", "very", "kind"], &["tone=very kind", "T-1"]] {
        let invocation = two.invoke("reply", words).unwrap();
        assert_eq!(invocation, two.parse("/reply T-1 'very kind'").unwrap(), "{words:?}");
    }
    assert!(two.invoke("/desk:reply", &["tnoe=kind"]).is_err());
}

#[test]
fn what_is_typed_narrows_the_list() {
    let titled = |name: &str, title: &str, description: &str| {
        let mut prompt = Prompt::new(name, description);
        prompt.title = Some(title.into());
        prompt
    };
    let catalog = Catalog::builder()
        .prompt(id("board"), titled("sprint-review", "Sprint review", "What was promised and shown"))
        .prompt(id("code"), titled("review", "Review a change", "Point by point"))
        .prompt(id("desk"), titled("refund", "Review a refund", "Against the policy in force"))
        .prompt(id("desk"), titled("reviewers", "Reviewers", "Who is asked"))
        .build();
    let commands = Commands::new(&catalog);
    let found = |typed: &str| -> Vec<&str> {
        commands.search(typed, 10).into_iter().map(|command| command.command.as_str()).collect()
    };
    assert_eq!(found("/review"), ["/review", "/reviewers", "/sprint-review", "/refund"]);
    assert_eq!(found("REF"), ["/refund"]);
    assert_eq!(found("desk ref"), ["/refund"]);
    assert_eq!(found("policy"), ["/refund"]);
    assert_eq!(found("eview"), ["/sprint-review", "/review", "/refund", "/reviewers"]);
    assert_eq!(found("desk:"), ["/refund", "/reviewers"]);
    assert_eq!(found("nothing"), [""; 0]);
    assert_eq!(commands.search("", 2).len(), 2);
}

#[test]
fn a_form_has_a_field_for_each_argument_and_completes_with_those_before() {
    let mut prompt = Prompt::new("deploy", "").with_argument("environment", true).with_argument("service", true);
    prompt.arguments[0].title = Some("Where\u{202e}".into());
    prompt.arguments.push(PromptArgument::default());
    prompt.arguments[2].name = "service".into();
    let commands = Commands::new(&Catalog::builder().prompt(id("ops"), prompt).build());
    let mut form = commands.find("deploy").unwrap().form();
    let labels: Vec<_> = form.fields().iter().map(|field| field.label.as_str()).collect();
    assert_eq!(labels, [r"Where\u{202e}", "service"]);
    form.fill("service", "web").unwrap();
    assert!(form.fill("region", "eu").is_err() && form.completion_request("region", "").is_err());
    assert_eq!(form.completion_request("environment", "st").unwrap().known.len(), 0);
    form.fill("environment", "staging").unwrap();
    let request = form.completion_request("service", "w").unwrap();
    assert_eq!(request.target, CompletionTarget::prompt("deploy"));
    assert_eq!((request.argument.as_str(), request.value.as_str()), ("service", "w"));
    assert_eq!(request.known.into_iter().collect::<Vec<_>>(), pairs(&[("environment", "staging")]));
    form.clear("service").unwrap();
    let error = form.submit().unwrap_err();
    assert_eq!(error.to_string(), "invalid arguments of prompt deploy: `service` is required");
    // What was typed is where filling in goes on.
    let half = commands.parse("/deploy production").unwrap();
    let form = commands.find("deploy").unwrap().form().with_invocation(&half);
    assert_eq!(form.missing().map(|field| field.name.as_str()).collect::<Vec<_>>(), ["service"]);
    assert!(!format!("{form:?}{half:?}").contains("production"));
}

#[test]
fn all_faults_of_arguments_are_told_at_once() {
    let prompt = Prompt::new("draft", "").with_argument("ticket", true).with_argument("tone", false);
    let large = "x".repeat(MAX_VALUE_BYTES + 1);
    let arguments = [("ticket", ""), ("colour", "red"), ("tone", &large)];
    let arguments = arguments.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect();
    assert_eq!(
        check_arguments(&prompt, &arguments).unwrap_err().to_string(),
        "invalid arguments of prompt draft: `ticket` is required, `colour` is not one of its arguments, \
         `tone` has 65537 bytes, more than 65536"
    );
}

#[test]
fn names_stay_as_they_are_spelled_and_their_order_is_that_of_bytes() {
    let (nfc, nfd) = ("caf\u{e9}", "cafe\u{301}");
    let both =
        commands(&[("a", nfc), ("a", nfd), ("a", "zebra"), ("a", "Äpfel"), ("a", "ähre"), ("a", "提示"), ("a", "Z")]);
    let mut names: Vec<_> = both.all().iter().map(|command| command.entry.id.name.to_string()).collect();
    assert_eq!(names.len(), 7);
    let in_order = names.clone();
    names.sort_unstable();
    assert_eq!(in_order, names);
    for name in [nfc, nfd] {
        assert_eq!(&*both.find(name).unwrap().entry.id.name, name);
    }
    // Where there is one, it is found however a keyboard composes it, and asked for as its server has it.
    let one = commands(&[("a", nfd)]);
    assert_eq!(&*one.find(nfc).unwrap().entry.id.name, nfd);
    let prompt = Prompt::new("reply", "").with_argument(nfd, false).with_argument("größe", false);
    let reply = Commands::new(&Catalog::builder().prompt(id("desk"), prompt).build());
    let value = "e\u{301} \u{e9} \u{202e}مرحبا";
    assert_eq!(typed(&reply, &format!("/reply {nfc}='{value}'")), pairs(&[(nfd, value)]));
}

proptest! {
    #[test]
    fn every_command_means_its_own_prompt(
        prompts in prop::collection::btree_set(
            ("[ab:%]{1,2}", "[ab:%/ '\"\\\\$=\u{202e}\u{200b}]{1,3}|[aA]{1,2}|\\PC{1,3}"), 1..12),
    ) {
        let pairs: Vec<(&str, &str)> = prompts.iter().map(|(server, name)| (server.as_str(), name.as_str())).collect();
        let commands = commands(&pairs);
        prop_assert_eq!(commands.all().len(), prompts.len());
        for command in commands.all() {
            let id = &command.entry.id;
            let invocation = commands.parse(&command.command).unwrap();
            prop_assert_eq!(invocation.id(), id, "{}", command.command);
            prop_assert!(!command.command.chars().any(char::is_control));
            let qualified = format!("{}:{}", id.server.as_str().replace('%', "%25").replace(':', "%3A"), id.name);
            prop_assert_eq!(&commands.find(&format!("/{qualified}")).unwrap().entry.id, id);
            prop_assert!(commands.search(&command.command, 100).len() <= prompts.len());
        }
    }

    #[test]
    fn no_line_is_too_odd(line in "/?(reply|desk:reply)?[ \n'\"\\\\=$]{0,3}(\\PC|\\p{Cc}|ticket=|tone=|[ '\"]){0,12}") {
        let _ = reply(&["ticket", "tone"]).parse(&line);
    }

    #[test]
    fn a_quoted_value_arrives_as_it_is(value in "[^']{0,20}") {
        let line = format!("/reply ticket='{value}' tone=x");
        prop_assert_eq!(typed(&reply(&["ticket", "tone"]), &line), pairs(&[("ticket", &value), ("tone", "x")]));
    }
}
