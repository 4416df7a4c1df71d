import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@testable import API

extension RouterBench {
    /// The usual policy with wallets.
    static let wallets = policy { $0.wallet.enabled = true }

    /// Registers the origin that calls wallets.
    func addOrigin() async throws {
        let origin = try #require(WalletOrigin(StandInWallet.origin))
        try await fixture.admin.addOrigin(origin, to: "test", app: nil)
    }

    static func opening(_ wanted: Presentation.Wanted) -> String {
        #"{"channel":"dc_api","want":"\#(wanted.rawValue)","origin":"\#(StandInWallet.origin)"}"#
    }

    /// A document with an age, or with all that an identity needs.
    func mint(_ wanted: Presentation.Wanted) -> DocumentMint {
        var mint = DocumentMint(fixture.wallet.issuer)
        mint.elements = wanted == .identity ? StandInWallet.licence : [(wanted.rawValue, .bool(true))]
        return mint
    }
}

/// A presentation that an app began.
struct BegunPresentation: Sendable {
    let person: SignedIn
    let id: String
    private let requests: [Presentation.WalletProtocol: JSONValue]

    init(_ wanted: Presentation.Wanted, _ person: SignedIn) async throws {
        let reply = try await person.send("POST /identity-cards/presentations", json: RouterBench.opening(wanted))
        #expect(reply.status == 201, "\(reply)")
        self.person = person
        id = try #require(reply.text("id"))
        guard case .array(let requests)? = reply["requests"] else {
            self.requests = [:]
            return
        }
        let pairs = requests.compactMap { one -> (Presentation.WalletProtocol, JSONValue)? in
            guard let name = one["protocol"]?.text.flatMap(Presentation.WalletProtocol.init), let data = one["data"]
            else { return nil }
            return (name, data)
        }
        self.requests = Dictionary(pairs) { first, _ in first }
    }

    func received(_ walletProtocol: Presentation.WalletProtocol) throws -> ReceivedRequest {
        ReceivedRequest(walletProtocol, try #require(requests[walletProtocol]))
    }

    /// Sends an answer of the wallet.
    func send(_ answer: WalletAnswer) async throws -> Reply {
        try await person.send(
            "POST /identity-cards/presentations/\(id)",
            json: #"{"protocol":"\#(answer.walletProtocol.rawValue)","data":{"response":"\#(answer.response)"}}"#)
    }

    /// Sends the right answer.
    func answer(_ wanted: Presentation.Wanted) async throws -> Reply {
        let received = try received(.openID4VP)
        return try await send(
            received.answer(presenting: try person.bench.mint(wanted).response(to: received.request())))
    }
}
