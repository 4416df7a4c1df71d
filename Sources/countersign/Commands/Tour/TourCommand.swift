import ArgumentParser
import Domain
import Foundation
import Operations

/// `countersign tour`: a new device uses every part of a running service once, over real sockets.
struct TourCommand: InstallationCommand {
    static let configuration = CommandConfiguration(
        commandName: "tour", abstract: "Walk a new device through the running service and show each exchange.",
        example: "tour")
    @OptionGroup var shared: SharedOptions
    @Option(name: .customLong("public"), help: "The public listener.") var publicURL = "https://127.0.0.1:8440"
    @Option(name: .customLong("client"), help: "The client listener.") var clientURL = "https://127.0.0.1:8441"
    @Option(help: "The sample provider.") var provider = "http://127.0.0.1:8450"
    @Option(help: "The file of the service's file sender; by default texts.jsonl beside the store.")
    var texts: String?
    @Option(help: "The listener of the console, for an administrator's step; also needs --administrator.")
    var console: String?
    @Option(help: "A file with what `admin add --json` printed; also needs --console.") var administrator: String?
    @Option(help: "The authority's certificate; by default ca.pem in the directory of the keys.") var ca: String?

    func validate() throws {
        guard (console == nil) == (administrator == nil) else {
            throw ValidationError("Give both --console and --administrator, or neither.")
        }
    }

    func report(on installation: Installation) async throws -> Report {
        let settings = installation.settings
        let authority = ca ?? "\(settings.keys)/ca.pem"
        var opened: TourConsole?
        if let console, let administrator {
            opened = try TourConsole(url: console, administrator: administrator, authority: authority)
        }
        let tour = Tour(
            publicURL: publicURL, clientURL: clientURL, provider: provider, authority: authority,
            texts: texts ?? settings.texts,
            challenge: { id in
                try await installation.admin { try await $0.administration.challengeSession(SessionID(id)) }
            },
            console: opened,
            ban: { user in
                guard let reason = Ban.Reason(rawValue: "tour") else { return }
                let order = try BanOrder(
                    target: .user(UserID(user).description), scope: .all, reason: reason, note: nil,
                    endsAt: Date().addingTimeInterval(3600), withDevices: false)
                _ = try await installation.admin {
                    try await $0.administration.addBan(order, upTo: 1)
                }
            },
            lift: { user in
                _ = try await installation.admin {
                    try await $0.administration.liftBans(
                        on: .user(UserID(user).description), note: "the tour is over")
                }
            },
            wallet: (try? SampleIssuer(in: settings.keys)).map { issuer in
                TourWallet(issuer: issuer) { provider in
                    guard let origin = WalletOrigin(TourWallet.origin) else { return }
                    try await installation.admin { admin in
                        let known = try await admin.administration.listOrigins(of: provider)
                        guard !known.contains(where: { $0.origin == origin }) else { return }
                        try await admin.administration.addOrigin(origin, to: provider, app: nil)
                    }
                }
            })
        try await tour.walk()
        return .shown
    }
}
