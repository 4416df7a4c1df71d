import Foundation
import SampleBackend

/// A small messenger: it stores its users' passwords, signs identity tokens for them, and pushes their messages through
/// Countersign. It stores no messages.
///
/// Read it in this order: ``MsgrRoutes`` (the calls), ``MsgrStore`` (accounts and contacts as pairs),
/// ``SourceProtocol`` (the original calls). `CountersignCalls` in the folder `Backend` makes it a provider.
@main
struct Msgr {
    static func main() async {
        let defaults = Sample.commonDefaults.merging(Passwords.option) { $1 }.merging([
            "--key": "provider.key", "--registration": "provider.json", "--store": "msgr.db",
            "--source-protocol": "off",
        ]) { $1 }
        await Sample.run("msgr", defaults: defaults) { sample in
            let countersign = try CountersignCalls(sample)
            let routes = MsgrRoutes(
                store: try MsgrStore(file: sample.options["--store"]), passwords: try Passwords(sample),
                countersign: countersign, verify: SessionVerifier(sample, audience: countersign.providerID))
            let accounts = routes.accounts()
            switch sample.options["--source-protocol"] {
            case "on": SourceProtocol(routes: routes).add(to: accounts)
            case "off": break
            default: throw Options.Malformed(reason: "--source-protocol must be on or off")
            }
            try await sample.serve(plain: accounts, device: routes.messages())
        }
    }
}
