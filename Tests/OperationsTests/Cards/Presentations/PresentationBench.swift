import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

/// Users with wallets in a fixture, whose app has an origin.
struct PresentationBench {
    let cards: CardBench
    var fixture: ServiceFixture { cards.fixture }
    var wallet: StandInWallet { fixture.wallet }

    /// A policy with wallets.
    static var policy: Policy {
        var policy = Policy()
        policy.wallet.enabled = true
        return policy
    }

    init(_ fixture: ServiceFixture) async throws {
        cards = try CardBench(fixture)
        for origin in [try Self.origin(), try Self.returnAddress()] {
            try await fixture.admin.addOrigin(origin, to: "test", app: nil)
        }
    }

    static func origin() throws -> WalletOrigin { try #require(WalletOrigin(StandInWallet.origin)) }

    static func returnAddress() throws -> WalletOrigin { try #require(WalletOrigin(StandInWallet.returnAddress)) }

    static func run(
        _ policy: Policy = policy, on kind: StoreKind = .usual, _ body: (PresentationBench) async throws -> Void
    ) async throws {
        try await ServiceFixture.run(policy, on: kind) { try await body(try await PresentationBench($0)) }
    }

    func open(
        _ wanted: Presentation.Wanted, _ person: PhoneBench.Person, on context: Service? = nil
    ) async throws -> OpenedPresentation {
        try await (context ?? fixture.context).openPresentation(
            wanted, origin: StandInWallet.origin, for: person.session)
    }

    /// A document with an age, or with all that an identity needs.
    func mint(_ wanted: Presentation.Wanted, _ holds: Bool = true) -> DocumentMint {
        var mint = DocumentMint(wallet.issuer)
        mint.elements =
            wanted == .identity ? StandInWallet.licence : [(wanted.rawValue, .bool(holds))]
        return mint
    }

    /// What the wallet answers to an opened request.
    func answer(
        _ opened: OpenedPresentation, _ mint: DocumentMint, by walletProtocol: Presentation.WalletProtocol
    ) throws -> WalletAnswer {
        let received = ReceivedRequest(opened, by: walletProtocol)
        return try received.answer(presenting: try mint.response(to: received.request()))
    }

    /// Opens a presentation and answers it.
    @discardableResult
    func present(
        _ wanted: Presentation.Wanted, _ person: PhoneBench.Person, holds: Bool = true,
        by walletProtocol: Presentation.WalletProtocol = .isoDocument
    ) async throws -> PresentationOutcome {
        let opened = try await open(wanted, person)
        return try await fixture.context.answerPresentation(
            opened.id.description, try answer(opened, mint(wanted, holds), by: walletProtocol), for: person.session)
    }

    func ages(of person: PhoneBench.Person) async throws -> ProvenAges? {
        try await fixture.store.read { [keys = fixture.personalKeys] in
            try AgeProofRepository($0, keys: keys).find(person.session.userID)
        }
    }

    func count(_ rows: String) async throws -> Int64 {
        try await fixture.store.read { try $0.first("SELECT COUNT(*) FROM \(rows)")?.integer(0) ?? -1 }
    }
}

extension PresentationOutcome {
    /// Whether an age is reached; `nil` for a card.
    var isReached: Bool? {
        if case .age(_, _, let isReached) = self { isReached } else { nil }
    }

    var card: Service.EvaluatedCard? {
        if case .card(let card) = self { card } else { nil }
    }
}
