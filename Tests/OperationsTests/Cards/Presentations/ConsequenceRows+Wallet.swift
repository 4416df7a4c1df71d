import Authority
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

extension ConsequenceTests {
    private static func open(_ world: ConsequenceWorld) async throws -> OpenedPresentation {
        try await world.fixture.admin.addOrigin(try PresentationBench.origin(), to: "test", app: nil)
        return try await world.fixture.context.openPresentation(
            .over18, origin: StandInWallet.origin, for: world.alice.session)
    }

    private static func begin(_ world: ConsequenceWorld) async throws -> BegunRedirect {
        let bench = try await PresentationBench(world.fixture)
        return try await bench.begin(.over18, world.alice)
    }

    private static func answer(_ begun: BegunRedirect, _ world: ConsequenceWorld) throws -> String {
        var mint = DocumentMint(world.fixture.wallet.issuer)
        mint.elements = [("age_over_18", .bool(true))]
        return try begun.answer(mint)
    }

    static let walletRows: [Row] = [
        .service("OpenPresentation") { world in
            try await world.fixture.admin.addOrigin(try PresentationBench.origin(), to: "test", app: nil)
            return { node in
                _ = try await node.context.openPresentation(
                    .over18, origin: StandInWallet.origin, for: world.alice.session)
            }
        },
        .service("AnswerPresentation", audit: ["age_proven"], notices: ["user_level"], here: [.dropsLevel]) { world in
            let opened = try await open(world)
            let received = ReceivedRequest(opened, by: .openID4VP)
            var mint = DocumentMint(world.fixture.wallet.issuer)
            mint.elements = [("age_over_18", .bool(true))]
            let answer = try received.answer(presenting: try mint.response(to: received.request()))
            return { node in
                _ = try await node.context.answerPresentation(
                    opened.id.description, answer, for: world.alice.session)
            }
        },
        .service("OpenRedirect") { world in
            try await world.fixture.admin.addOrigin(try PresentationBench.returnAddress(), to: "test", app: nil)
            return { node in
                _ = try await node.context.openRedirect(
                    .over18, returningTo: StandInWallet.returnAddress, for: world.alice.session)
            }
        },
        .service("ReceiveResponse") { world in
            let begun = try await begin(world)
            let answer = try answer(begun, world)
            return { node in _ = try await node.context.receiveResponse(answer, to: begun.request) }
        },
        .service("RedeemResponse", audit: ["age_proven"], notices: ["user_level"], here: [.dropsLevel]) { world in
            let begun = try await begin(world)
            let link = try await world.fixture.context.receiveResponse(try answer(begun, world), to: begun.request)
            let code = try #require(link.split(separator: "=").last.map(String.init))
            return { node in
                _ = try await node.context.redeemResponse(begun.id.description, code: code, for: world.alice.session)
            }
        },
        .service("DeletePresentation") { world in
            let opened = try await open(world)
            return { node in
                try await node.context.deletePresentation(opened.id.description, for: world.alice.session)
            }
        },
        .admin(
            "AddOrigin", audit: ["provider_changed"], notices: ["provider_keys"], effects: [.dropsProvider]
        ) { world in
            let origin = try PresentationBench.origin()
            return { _ in try await world.fixture.admin.addOrigin(origin, to: "test", app: nil) }
        },
        .admin("StoreTrustList", audit: ["issuer_list_stored"]) { world in
            let wallet = world.fixture.wallet
            let (list, roots) = (try wallet.list.list(), try TrustList.Roots([wallet.list.root]))
            return { _ in
                _ = try await world.fixture.admin.storeTrustList(
                    list, from: "https://list.example/vical", rootedIn: roots)
            }
        },
        .admin(
            "RemoveOrigin", audit: ["provider_changed"], notices: ["provider_keys"], effects: [.dropsProvider]
        ) { world in
            let origin = try PresentationBench.origin()
            try await world.fixture.admin.addOrigin(origin, to: "test", app: nil)
            return { _ in try await world.fixture.admin.removeOrigin(origin, of: "test") }
        },
    ]
}
