import Foundation
import SampleBackend

/// A small messenger: it stores its users' passwords, signs identity tokens for them, and pushes their messages through
/// Countersign. It stores no messages.
///
/// Read it in this order: ``MsgrRoutes`` (the calls), ``MsgrStore`` (accounts and contacts as pairs).
/// `CountersignCalls` in the folder `Backend` makes it a provider.
@main
struct Msgr {
    static func main() async {
        let defaults = Sample.commonDefaults.merging(
            ["--key": "provider.key", "--registration": "provider.json", "--store": "msgr.db"]) { $1 }
        await Sample.run("msgr", defaults: defaults) { sample in
            let countersign = try CountersignCalls(sample)
            let routes = MsgrRoutes(
                store: try MsgrStore(file: sample.options["--store"]), countersign: countersign,
                verify: SessionVerifier(sample, audience: countersign.providerID))
            try await sample.serve(plain: routes.accounts(), device: routes.messages())
        }
    }
}
