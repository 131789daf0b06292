//! URI templates do what RFC 6570 says, and a URI leads back to its template.

mod completer;

use proem::{
    catalog::Catalog,
    protocol::ResourceTemplate,
    templates::{UriTemplate, VariableValue, Variables, matching},
};
use proptest::prelude::*;
#[cfg(feature = "cli")]
use serde_json::{Map, Value};

use crate::fake::id;

fn template(text: &str) -> UriTemplate {
    UriTemplate::parse(text).unwrap()
}

/// The values that the examples of RFC 6570, section 3.2, are about.
fn examples() -> Variables {
    Variables::new()
        .with("count", vec!["one", "two", "three"])
        .with("dom", vec!["example", "com"])
        .with("dub", "me/too")
        .with("hello", "Hello World!")
        .with("half", "50%")
        .with("var", "value")
        .with("who", "fred")
        .with("base", "http://example.com/home/")
        .with("path", "/foo/bar")
        .with("list", vec!["red", "green", "blue"])
        .with("keys", vec![("semi", ";"), ("dot", "."), ("comma", ",")])
        .with("v", "6")
        .with("x", "1024")
        .with("y", "768")
        .with("empty", "")
        .with("empty_keys", Vec::<(String, String)>::new())
}

/// The examples of RFC 6570, sections 3.2.1 to 3.2.9.
const EXAMPLES: [(&str, &str); 116] = [
    // 3.2.1
    ("{count}", "one,two,three"),
    ("{count*}", "one,two,three"),
    ("{/count}", "/one,two,three"),
    ("{/count*}", "/one/two/three"),
    ("{;count}", ";count=one,two,three"),
    ("{;count*}", ";count=one;count=two;count=three"),
    ("{?count}", "?count=one,two,three"),
    ("{?count*}", "?count=one&count=two&count=three"),
    ("{&count*}", "&count=one&count=two&count=three"),
    // 3.2.2
    ("{var}", "value"),
    ("{hello}", "Hello%20World%21"),
    ("{half}", "50%25"),
    ("O{empty}X", "OX"),
    ("O{undef}X", "OX"),
    ("{x,y}", "1024,768"),
    ("{x,hello,y}", "1024,Hello%20World%21,768"),
    ("?{x,empty}", "?1024,"),
    ("?{x,undef}", "?1024"),
    ("?{undef,y}", "?768"),
    ("{var:3}", "val"),
    ("{var:30}", "value"),
    ("{list}", "red,green,blue"),
    ("{list*}", "red,green,blue"),
    ("{keys}", "semi,%3B,dot,.,comma,%2C"),
    ("{keys*}", "semi=%3B,dot=.,comma=%2C"),
    // 3.2.3
    ("{+var}", "value"),
    ("{/var,empty}", "/value/"),
    ("{/var,undef}", "/value"),
    ("{+hello}", "Hello%20World!"),
    ("{+half}", "50%25"),
    ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
    ("{+base}index", "http://example.com/home/index"),
    ("O{+empty}X", "OX"),
    ("O{+undef}X", "OX"),
    ("{+path}/here", "/foo/bar/here"),
    ("{+path:6}/here", "/foo/b/here"),
    ("here?ref={+path}", "here?ref=/foo/bar"),
    ("up{+path}{var}/here", "up/foo/barvalue/here"),
    ("{+x,hello,y}", "1024,Hello%20World!,768"),
    ("{+path,x}/here", "/foo/bar,1024/here"),
    ("{+list}", "red,green,blue"),
    ("{+list*}", "red,green,blue"),
    ("{+keys}", "semi,;,dot,.,comma,,"),
    ("{+keys*}", "semi=;,dot=.,comma=,"),
    // 3.2.4
    ("{#var}", "#value"),
    ("{#hello}", "#Hello%20World!"),
    ("{#half}", "#50%25"),
    ("foo{#empty}", "foo#"),
    ("foo{#undef}", "foo"),
    ("{#x,hello,y}", "#1024,Hello%20World!,768"),
    ("{#path,x}/here", "#/foo/bar,1024/here"),
    ("{#path:6}/here", "#/foo/b/here"),
    ("{#list}", "#red,green,blue"),
    ("{#list*}", "#red,green,blue"),
    ("{#keys}", "#semi,;,dot,.,comma,,"),
    // 3.2.5
    ("{.who}", ".fred"),
    ("{.who,who}", ".fred.fred"),
    ("{.half,who}", ".50%25.fred"),
    ("www{.dom*}", "www.example.com"),
    ("X{.var}", "X.value"),
    ("X{.var:3}", "X.val"),
    ("X{.empty}", "X."),
    ("X{.undef}", "X"),
    ("X{.list}", "X.red,green,blue"),
    ("X{.list*}", "X.red.green.blue"),
    ("{#keys}", "#semi,;,dot,.,comma,,"),
    ("{#keys*}", "#semi=;,dot=.,comma=,"),
    ("X{.empty_keys}", "X"),
    ("X{.empty_keys*}", "X"),
    // 3.2.6
    ("{/who}", "/fred"),
    ("{/who,who}", "/fred/fred"),
    ("{/half,who}", "/50%25/fred"),
    ("{/who,dub}", "/fred/me%2Ftoo"),
    ("{/var}", "/value"),
    ("{/var,empty}", "/value/"),
    ("{/var,undef}", "/value"),
    ("{/var,x}/here", "/value/1024/here"),
    ("{/var:1,var}", "/v/value"),
    ("{/list}", "/red,green,blue"),
    ("{/list*}", "/red/green/blue"),
    ("{/list*,path:4}", "/red/green/blue/%2Ffoo"),
    ("{/keys}", "/semi,%3B,dot,.,comma,%2C"),
    ("{/keys*}", "/semi=%3B/dot=./comma=%2C"),
    // 3.2.7
    ("{;who}", ";who=fred"),
    ("{;half}", ";half=50%25"),
    ("{;empty}", ";empty"),
    ("{;hello:5}", ";hello=Hello"),
    ("{;v,empty,who}", ";v=6;empty;who=fred"),
    ("{;v,bar,who}", ";v=6;who=fred"),
    ("{;x,y}", ";x=1024;y=768"),
    ("{;x,y,empty}", ";x=1024;y=768;empty"),
    ("{;x,y,undef}", ";x=1024;y=768"),
    ("{;list}", ";list=red,green,blue"),
    ("{;list*}", ";list=red;list=green;list=blue"),
    ("{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"),
    ("{;keys*}", ";semi=%3B;dot=.;comma=%2C"),
    // 3.2.8
    ("{?who}", "?who=fred"),
    ("{?half}", "?half=50%25"),
    ("{?x,y}", "?x=1024&y=768"),
    ("{?x,y,empty}", "?x=1024&y=768&empty="),
    ("{?x,y,undef}", "?x=1024&y=768"),
    ("{?var:3}", "?var=val"),
    ("{?list}", "?list=red,green,blue"),
    ("{?list*}", "?list=red&list=green&list=blue"),
    ("{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"),
    ("{?keys*}", "?semi=%3B&dot=.&comma=%2C"),
    // 3.2.9
    ("{&who}", "&who=fred"),
    ("{&half}", "&half=50%25"),
    ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
    ("{&var:3}", "&var=val"),
    ("{&x,y,empty}", "&x=1024&y=768&empty="),
    ("{&x,y,undef}", "&x=1024&y=768"),
    ("{&list}", "&list=red,green,blue"),
    ("{&list*}", "&list=red&list=green&list=blue"),
    ("{&keys}", "&keys=semi,%3B,dot,.,comma,%2C"),
    ("{&keys*}", "&semi=%3B&dot=.&comma=%2C"),
];

#[test]
fn the_examples_of_the_standard_expand_as_it_says() {
    for (text, expected) in EXAMPLES {
        assert_eq!(template(text).expand(&examples()).unwrap(), expected, "{text}");
    }
}

#[test]
fn the_examples_of_the_standard_lead_back_to_values_that_expand_to_the_same() {
    for (text, uri) in EXAMPLES {
        let found = template(text).matches(uri).unwrap_or_else(|| panic!("{text} {uri}"));
        assert_eq!(template(text).expand(&found).unwrap(), uri, "{text}");
    }
}

/// What `scripts/real-servers` takes from PyPI's `uritemplate`, which keeps the official test suite.
#[cfg(feature = "cli")]
#[test]
fn the_official_test_suite_passes() {
    let Some(folder) = crate::outside::servers("uri-templates") else { return };
    let mut cases = 0;
    for file in ["spec-examples", "spec-examples-by-section", "extended-tests", "negative-tests"] {
        let text = std::fs::read_to_string(folder.join(file).with_extension("json")).unwrap();
        let groups: Map<String, Value> = serde_json::from_str(&text).unwrap();
        for (group, content) in &groups {
            let variables = content["variables"].as_object().unwrap();
            let variables: Variables =
                variables.iter().filter_map(|(name, value)| Some((name.as_str(), variable(value)?))).collect();
            for case in content["testcases"].as_array().unwrap() {
                let text = case[0].as_str().unwrap();
                let expanded = UriTemplate::parse(text).and_then(|template| template.expand(&variables));
                let expected: Vec<&str> = match &case[1] {
                    Value::Bool(false) => vec![],
                    Value::String(uri) => vec![uri],
                    several => several.as_array().unwrap().iter().map(|uri| uri.as_str().unwrap()).collect(),
                };
                cases += 1;
                match expanded {
                    Ok(uri) => {
                        assert!(expected.contains(&uri.as_str()), "{file}, {group}: {text} gives {uri}");
                        let found = template(text).matches(&uri);
                        let found = found.unwrap_or_else(|| panic!("{file}, {group}: {text} does not match {uri}"));
                        assert_eq!(template(text).expand(&found).unwrap(), uri, "{file}, {group}: {text}");
                    }
                    Err(error) => assert!(expected.is_empty(), "{file}, {group}: {error}"),
                }
            }
        }
    }
    assert_eq!(cases, 252);
}

#[cfg(feature = "cli")]
fn variable(value: &Value) -> Option<VariableValue> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Some(match value {
        Value::Null => return None,
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().into(),
        Value::Object(pairs) => pairs.iter().map(|(key, value)| (key.clone(), text(value))).collect::<Vec<_>>().into(),
        value => text(value).into(),
    })
}

#[test]
fn what_a_uri_says_is_read_from_it() {
    let text = |text: &str| VariableValue::from(text);
    let list = |items: &[&str]| VariableValue::from(items.to_vec());
    let pairs = |pairs: &[(&str, &str)]| VariableValue::from(pairs.to_vec());
    for (template_text, uri, expected) in [
        (
            "deploy://{environment}/{service}/env",
            "deploy://staging/web%20shop/env",
            vec![("environment", text("staging")), ("service", text("web shop"))],
        ),
        ("file:///{+path}", "file:///a/b%20c.md", vec![("path", text("a/b c.md"))]),
        ("file:///{+path}", "file:///a%2Fb", vec![("path", text("a%2Fb"))]),
        ("{a}{b}", "xyz", vec![("a", text("x")), ("b", text("yz"))]),
        ("{a,b}", "x", vec![("a", text("x"))]),
        ("{a,b}", ",y", vec![("a", text("")), ("b", text("y"))]),
        ("{a,b}", "x,y,z", vec![("a", text("x")), ("b", list(&["y", "z"]))]),
        ("{a}", "", vec![]),
        ("{#a}", "#", vec![("a", text(""))]),
        ("x{/a*}", "x/b/c", vec![("a", list(&["b", "c"]))]),
        ("x{/a*}", "x/b=c/d=", vec![("a", pairs(&[("b", "c"), ("d", "")]))]),
        ("x{.a,b}", "x.tar.gz", vec![("a", text("tar")), ("b", text("gz"))]),
        ("x{.a}", "x.tar.gz", vec![("a", text("tar.gz"))]),
        ("x{;a,b}", "x;a;b=2", vec![("a", text("")), ("b", text("2"))]),
        ("x{?a,b,c}", "x?b=1&c=", vec![("b", text("1")), ("c", text(""))]),
        ("x{?a,b,c}", "x", vec![]),
        ("x{?a*}", "x?a=1&a=2", vec![("a", list(&["1", "2"]))]),
        ("x{?a*,b}", "x?c=1&b=2", vec![("a", pairs(&[("c", "1")])), ("b", text("2"))]),
        ("x?a=1{&b}", "x?a=1&b=2", vec![("b", text("2"))]),
        ("{a:3}/{a}", "abc/abcdef", vec![("a", text("abcdef"))]),
        ("{a:2}/{b}", "ab/c", vec![("a", text("ab")), ("b", text("c"))]),
        ("größe://{a}", "gr%C3%B6%C3%9Fe://%C3%A9", vec![("a", text("é"))]),
    ] {
        let expected: Variables = expected.into_iter().collect();
        assert_eq!(template(template_text).matches(uri), Some(expected), "{template_text} {uri}");
    }
}

#[test]
fn a_uri_that_no_values_expand_to_is_not_matched() {
    for (template_text, uri) in [
        ("x/{a}", "x/b/c"),
        ("x/{a}", "y/b"),
        ("x/{a}", "x/b c"),
        ("x/{a}", "x/é"),
        ("x/{a}", "x/%c3%a9"),
        ("x/{a}", "x/%C3"),
        ("x/{a}", "x/%61"),
        ("x/{a:2}", "x/abc"),
        ("{a}/{a}", "b/c"),
        ("{a:2}/{a}", "ab/b"),
        ("x{/a*}", "x/b=c/d"),
        ("x{?a,b}", "x?b=1&a=2"),
        ("x{?a,b}", "x?c=1"),
        ("x{?a}", "x&a=1"),
        ("x{?a*}", "x?b"),
    ] {
        assert_eq!(template(template_text).matches(uri), None, "{template_text} {uri}");
    }
}

#[test]
fn expansion_is_bounded() {
    let message =
        |template_text: &str, variables: Variables| template(template_text).expand(&variables).unwrap_err().to_string();
    let long = "a".repeat(UriTemplate::MAX_URI_BYTES);
    assert_eq!(template("{a}").expand(&Variables::new().with("a", long.as_str())).unwrap().len(), long.len());
    assert_eq!(
        message("x{a}", Variables::new().with("a", long.as_str())),
        "invalid values of URI template `x{a}`: the URI would have more than 65536 bytes"
    );
    let bomb = "{a}".repeat(UriTemplate::MAX_EXPRESSIONS);
    assert!(message(&bomb, Variables::new().with("a", "é".repeat(500))).ends_with("more than 65536 bytes"));
    assert!(
        message("{a}", Variables::new().with("a", vec!["b"; UriTemplate::MAX_ITEMS + 1]))
            .ends_with("`a` has 1025 items; at most 1024 are taken")
    );
    assert_eq!(
        message("{a:3}", Variables::new().with("a", vec!["b"])),
        "invalid values of URI template `{a:3}`: `a` must be a text, since it has a prefix length"
    );
}

#[test]
fn a_hostile_template_ends_its_own_search() {
    // Each of these has more ways to part the URI than a search could try: it remembers, or gives up.
    let uri = format!("{}!", "a".repeat(UriTemplate::MAX_MATCHED_BYTES - 1));
    let many = UriTemplate::MAX_EXPRESSIONS;
    let distinct: String = (0..many).map(|i| format!("{{+v{i}}}")).collect();
    for hostile in [
        format!("{distinct}?"),
        format!("{}?", "{+a}".repeat(many)),
        format!("{{{}}}?", (0..128).map(|i| format!("v{i}")).collect::<Vec<_>>().join(",")),
        format!("{}?", "{+a,b}".repeat(many)),
        format!("{{?{}}}", vec!["a*"; 128].join(",")),
        "{.a*}{/a*}{a*}{;a*}".repeat(many / 4),
    ] {
        assert_eq!(template(&hostile).matches(&uri), None);
        assert_eq!(template(&hostile).matches(&format!("?{}", "a=a&".repeat(2_000))), None);
    }
    // A few hundred bytes are searched to the end.
    let uri = format!("{}!", "a".repeat(120));
    assert!(template(&format!("{distinct}!")).matches(&uri).is_some());
    assert_eq!(template("{a}").matches(&"a".repeat(UriTemplate::MAX_MATCHED_BYTES + 1)), None);
}

#[test]
fn a_catalog_gives_the_templates_of_a_uri_most_specific_first() {
    let add = |catalog: proem::catalog::CatalogBuilder, (server, text): (&str, &str)| {
        catalog.template(id(server), ResourceTemplate::new(text, text))
    };
    let templates = [
        ("git", "repo://{owner}/{name}"),
        ("git", "repo://{+rest}"),
        ("git", "repo://ada/{name}"),
        ("git", "repo://{broken"),
        ("git", "{+anything}"),
        ("hub", "repo://ada/proem"),
    ];
    let names = |catalog: &Catalog, uri: &str| -> Vec<String> {
        matching(catalog, &id("git"), uri).iter().map(|(entry, _)| entry.template.name.clone()).collect()
    };
    let catalog = templates.into_iter().fold(Catalog::builder(), add).build();
    let backwards = templates.into_iter().rev().fold(Catalog::builder(), add).build();
    for (uri, expected) in [
        ("repo://ada/proem", vec!["repo://ada/{name}", "repo://{owner}/{name}", "repo://{+rest}", "{+anything}"]),
        ("repo://ada/proem/src", vec!["repo://{+rest}", "{+anything}"]),
        ("mail://1", vec!["{+anything}"]),
        ("mail ://1", vec![]),
    ] {
        assert_eq!(names(&catalog, uri), expected, "{uri}");
        assert_eq!(names(&backwards, uri), expected, "{uri}");
    }
    let found = matching(&catalog, &id("git"), "repo://ada/proem");
    assert_eq!(found[1].1, Variables::new().with("owner", "ada").with("name", "proem"));
}

fn values() -> impl Strategy<Value = VariableValue> {
    let text = prop_oneof!["[a-z0-9]{0,6}", "[ -~éß%/,=&?]{0,8}", "\\PC{0,4}"];
    // Dots would part them in a label.
    let dotless = text.clone().prop_map(|text| text.replace('.', ""));
    prop_oneof![
        4 => text.clone().prop_map(VariableValue::Text),
        1 => prop::collection::vec(text, 0..4).prop_map(VariableValue::from),
        1 => prop::collection::vec((dotless.clone(), dotless), 0..4).prop_map(VariableValue::from),
    ]
}

fn texts() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "c.d", "e"]);
    let spec = (name, prop_oneof![4 => Just(""), 2 => Just("*"), 1 => Just(":2")]);
    let specs = prop::collection::vec(spec.prop_map(|(name, modifier)| format!("{name}{modifier}")), 1..4);
    let operator = prop::sample::select(vec!["", "+", "#", ".", "/", ";", "?", "&"]);
    let expression = (operator, specs).prop_map(|(operator, specs)| format!("{{{operator}{}}}", specs.join(",")));
    let literal =
        prop::sample::select(vec!["x://", "/", "x", ",", ".", "?x=1", "é", "%20", "="]).prop_map(str::to_owned);
    prop::collection::vec(prop_oneof![expression, literal], 1..6).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn what_was_expanded_is_matched_and_expands_to_the_same(
        text in texts(),
        values in prop::collection::vec((prop::sample::select(vec!["a", "b", "c.d", "e"]), values()), 0..4),
    ) {
        let template = template(&text);
        // A list that stands several times may be shown whole nowhere, nor a `%` for certain.
        let again = text.matches(['a', 'b', 'c', 'e']).count() - template.variables().len();
        let plain = |value: &VariableValue| matches!(value, VariableValue::Text(text) if !text.contains('%'));
        let values = values.into_iter().filter(|(_, value)| again == 0 || plain(value));
        let variables: Variables = values.collect();
        // A list has no prefix.
        let Ok(uri) = template.expand(&variables) else { return Ok(()) };
        let found = template.matches(&uri);
        // More places of one variable, with nothing between them, may take too many steps.
        prop_assert!(found.is_some() || again > 1, "{} is not matched by {}", uri, text);
        prop_assert!(found.is_none_or(|found| template.expand(&found).unwrap() == uri));
    }

    #[test]
    fn whatever_is_matched_expands_to_it(text in texts(), uri in "[a-c:/.;?&=,#%0-9]{0,12}") {
        let template = template(&text);
        if let Some(found) = template.matches(&uri) {
            prop_assert_eq!(template.expand(&found).unwrap(), uri);
        }
    }

    #[test]
    fn any_template_is_read_or_refused(text in "[{}+#./;?&*:,a-c%0-9 é]{0,30}", uri in "[a-c{}:/%0-9]{0,20}") {
        if let Ok(template) = UriTemplate::parse(&text) {
            prop_assert_eq!(template.as_str(), text);
            let found = template.matches(&uri);
            prop_assert!(found.is_none_or(|found| template.expand(&found).unwrap() == uri));
        }
    }
}
