/// Something that a person might ask, and the demo tool that answers it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The person's words.
    pub text: &'static str,
    /// The server's id.
    pub server: &'static str,
    /// The tool's name as its server gives it.
    pub tool: &'static str,
}

const fn ask(text: &'static str, server: &'static str, tool: &'static str) -> Question {
    Question { text, server, tool }
}

/// What people ask in the made-up workplace: mostly not in the tools' own words, a few in other
/// languages. Every one has exactly one right tool among all servers.
pub const QUESTIONS: &[Question] = &[
    ask(
        "Ines wants her money back because the kettle lid was cracked, get that ready for me to look at",
        "support",
        "refunds.create_draft",
    ),
    ask("ok, pay out RD-0412 now", "support", "refunds.submit"),
    ask("what is going on with T-4730?", "support", "tickets.get"),
    ask("how many points does checkout usually manage in two weeks?", "sprint-board", "calculate-velocity"),
    ask("set up the next iteration for the mobile people, beginning on Monday", "sprint-board", "create-sprint"),
    ask("where in our code do we cap how much can be paid back?", "code-host", "search"),
    ask("accept jonas's change number 512 and say that it looks good", "merge-reviews", "submit_verdict"),
    ask("why did last night's build break? show me the end of the output", "ci-pipelines", "pipeline_logs"),
    ask("get whoever is responsible for payments out of bed, customers cannot check out", "incidents", "page_oncall"),
    ask("tell the team when the error ratio is over two percent for ten minutes", "metrics", "create_alert_rule"),
    ask("which services complained most in the last day?", "logs", "count_by_field"),
    ask("let a tenth of our users in Germany try one-click-refund", "feature-flags", "flags.set"),
    ask("look into the database: how many orders were sent back in each month this year?", "database", "run_query"),
    ask("when are Mira, Yuki and I all free for an hour this week?", "calendar", "findFreeSlots"),
    ask("we need somewhere with a screen for eight people tomorrow at two", "calendar", "bookRoom"),
    ask("find the mail in which legal commented on our new rules", "mail", "messages.search"),
    ask("let everybody in #random vote on where we go for lunch", "chat", "create_poll"),
    ask("note down my meeting with Nordlicht Hotels: they want an offer by Friday", "crm", "log_activity"),
    ask("bill Nordlicht Hotels for three days of consulting, payable in 30 days", "invoices", "invoice.create"),
    ask("who has not paid us yet, and how many days are they late?", "invoices", "invoice.list_overdue"),
    ask("I spent 31 euros on lunch with a guest from outside, claim it for me", "expenses", "submit_expense"),
    ask("how many days off do I still have?", "people", "leave_balance"),
    ask("Ich möchte vom 14. bis 18. Dezember Urlaub nehmen", "people", "request_leave"),
    ask("契約書の「返金」は英語でどう訳すことになっていますか", "translation", "用語集を検索"),
    ask("trouve-moi un train de Hambourg à Lyon, départ lundi matin", "travel", "search_trains"),
    ask("Ich liege mit Fieber im Bett, bitte melde mich für heute krank", "people", "report_sick"),
    ask("cheapest way to fly from Hamburg to Lyon on the seventh, back on the ninth", "travel", "search_flights"),
    ask("will it rain in Lyon tomorrow?", "weather", "forecast"),
    ask("which part of the cloud bill grew the most in October?", "cloud-costs", "cost_breakdown"),
    ask("the payments key is over a year old, please replace it", "vault", "secret-rotate"),
    ask("the new search version is bad, go back to the one before in production", "deploy", "roll_back"),
    ask("how much notice do we have to give Nordlicht?", "contracts", "find_clause"),
    ask("is the blue kettle still available in Hamburg?", "inventory", "stock_level"),
    ask("wo ist mein Paket sh-2041 gerade?", "inventory", "track_shipment"),
];
