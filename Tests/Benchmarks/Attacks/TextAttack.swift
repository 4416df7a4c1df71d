import Fixtures

/// Bots that ask for texts, beside newcomers: who gets one, and what it costs. The day is simulated.
struct TextAttack {
    let report: Report

    func run() {
        report.section(
            "Texts under an attack of eight hours (5,000 bots in 2,000 networks, 100 requests a minute)",
            ["codes of the bots that come back", "newcomers with a text", "texts to bots", "cost of these", "aim"])
        for confirmed in [0, 30] {
            var attack = SendAttack()
            attack.confirmedPercent = confirmed
            let outcome = attack.run()
            report.row(
                "\(confirmed) %", outcome.servedPercent.places(1) + " % of \(outcome.newcomers)", "\(outcome.wasted)",
                "$" + (Double(outcome.cost) / 1000).places(2), "at least 60 %, at most $64")
        }
    }
}
