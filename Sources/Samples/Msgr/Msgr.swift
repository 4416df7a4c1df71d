import Foundation
import SampleBackend

/// A small messenger: it knows its users' passwords, vouches for them at Countersign, and pushes their messages through
/// it. It stores no message.
///
/// Read it in this order: ``MsgrRoutes`` (the calls), ``MsgrStore`` (accounts and contacts as pairs). What makes it a
/// provider is in `CountersignCalls` of the folder `Backend`.
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
