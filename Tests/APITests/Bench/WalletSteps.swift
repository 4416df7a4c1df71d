import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import API
@testable import Operations

extension RouterBench {
    /// The usual policy with wallets.
    static let wallets = policy { $0.wallet.enabled = true }

    /// Registers the origin that calls wallets.
    func addOrigin() async throws {
        for text in [StandInWallet.origin, StandInWallet.returnAddress] {
            try await fixture.admin.addOrigin(try #require(WalletOrigin(text)), to: "test", app: nil)
        }
    }

    /// Posts a form as a wallet.
    func wallet(_ call: String, form: String) async throws -> Reply {
        try await send(
            .public, call, headers: [.contentType: Self.form], body: RequestBody(buffer: ByteBuffer(string: form)))
    }

    static func opening(_ wanted: Presentation.Wanted) -> String {
        #"{"channel":"dc_api","want":"\#(wanted.rawValue)","origin":"\#(StandInWallet.origin)"}"#
    }

    static func redirect(_ wanted: Presentation.Wanted) -> String {
        #"{"channel":"same_device","want":"\#(wanted.rawValue)","return_to":"\#(StandInWallet.returnAddress)"}"#
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

/// A presentation by redirect that an app began.
struct RedirectedPresentation: Sendable {
    let person: SignedIn
    let id: String
    /// The secret by which the wallet names the request.
    let request: String

    init(_ wanted: Presentation.Wanted, _ person: SignedIn) async throws {
        let reply = try await person.send("POST /identity-cards/presentations", json: RouterBench.redirect(wanted))
        #expect(reply.status == 201, "\(reply)")
        self.person = person
        id = try #require(reply.text("id"))
        let url = try #require(reply.text("url"))
        let items = try #require(URLComponents(string: url)?.queryItems)
        let address = try #require(items.first { $0.name == "request_uri" }?.value)
        request = String(try #require(address.split(separator: "/").last))
    }

    /// The path by which the wallet fetches the request, and that to which it posts its answer.
    var requestPath: String { "/wallet/requests/\(request)" }
    var responsePath: String { "/wallet/responses/\(request)" }

    /// What the wallet posts: the compact JWE of a document.
    func answer(_ wanted: Presentation.Wanted) async throws -> String {
        let reply = try await person.bench.open("GET \(requestPath)")
        #expect(reply.status == 200)
        let received = ReceivedRequest(
            .openID4VP, .object(["request": .string(String(decoding: reply.body, as: UTF8.self))]))
        return try received.answer(
            presenting: try person.bench.mint(wanted).response(to: received.request())
        ).response
    }

    /// Posts an answer as the wallet.
    func post(_ answer: String) async throws -> Reply {
        try await person.bench.wallet("POST \(responsePath)", form: "response=\(answer)")
    }

    /// Posts the right answer; gives the code with which the wallet returns.
    func code(_ wanted: Presentation.Wanted) async throws -> String {
        let link = try #require(try await post(try await answer(wanted)).text("redirect_uri"))
        return String(try #require(link.split(separator: "=").last))
    }

    func redeem(_ code: String) async throws -> Reply {
        try await person.send("POST /identity-cards/presentations/\(id)", json: #"{"response_code":"\#(code)"}"#)
    }
}
