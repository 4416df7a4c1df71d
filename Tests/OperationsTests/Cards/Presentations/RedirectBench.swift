import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

/// A presentation by redirect, whose request a wallet has fetched.
struct BegunRedirect {
    let id: PresentationID
    /// The link that opens the wallet.
    let url: String
    /// The secret by which the wallet names the request.
    let request: String
    let received: ReceivedRequest

    /// The secret in a link.
    static func request(in url: String) throws -> String {
        let items = try #require(URLComponents(string: url)?.queryItems)
        let address = try #require(items.first { $0.name == "request_uri" }?.value)
        return String(try #require(address.split(separator: "/").last))
    }

    /// What the wallet posts: the compact JWE of a document.
    func answer(_ mint: DocumentMint) throws -> String {
        try received.answer(presenting: try mint.response(to: received.request())).response
    }
}

extension PresentationBench {
    func begin(
        _ wanted: Presentation.Wanted, _ person: PhoneBench.Person, on context: Service? = nil
    ) async throws -> BegunRedirect {
        let context = context ?? fixture.context
        let opened = try await context.openRedirect(
            wanted, returningTo: StandInWallet.returnAddress, for: person.session)
        let request = try BegunRedirect.request(in: opened.url)
        let signed = try await context.readRequestObject(request, walletNonce: nil)
        return BegunRedirect(
            id: opened.id, url: opened.url, request: request,
            received: ReceivedRequest(.openID4VP, .object(["request": .string(signed)])))
    }

    /// Posts an answer as the wallet; gives the code with which it returns to the app.
    func post(_ answer: String, to begun: BegunRedirect, on context: Service? = nil) async throws -> String {
        let link = try await (context ?? fixture.context).receiveResponse(answer, to: begun.request)
        let parts = link.split(separator: "#response_code=", omittingEmptySubsequences: false).map(String.init)
        #expect(parts.count == 2 && parts.first == StandInWallet.returnAddress)
        return try #require(parts.last)
    }

    func redeem(
        _ begun: BegunRedirect, _ code: String, _ person: PhoneBench.Person, on context: Service? = nil
    ) async throws -> PresentationOutcome {
        try await (context ?? fixture.context).redeemResponse(
            begun.id.description, code: code, for: person.session)
    }

    func state(_ begun: BegunRedirect, _ person: PhoneBench.Person) async throws -> Presentation.State {
        try await fixture.context.readPresentation(begun.id.description, for: person.session).state
    }

    /// What is stored of an answer that has arrived.
    var kept: String { "presentations WHERE sealed_result IS NOT NULL OR response_code_hash IS NOT NULL" }
}
