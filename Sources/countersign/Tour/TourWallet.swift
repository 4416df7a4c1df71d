import CountersignClient
import Encoding
import Foundation

/// The invented wallet of the tour's users.
struct TourWallet: Sendable {
    /// The page that calls it.
    static let origin = "https://tour.example"

    /// Its credentials are signed by an issuer that the service trusts (`sample wallet issuer`).
    let issuer: SampleIssuer
    /// Registers the page for the apps of a provider.
    let register: @Sendable (_ provider: String) async throws -> Void

    /// Answers as a wallet whose holder agrees.
    func answer(to requests: [WalletRequest]) throws -> WalletResponse {
        guard let card = SpecimenCard() else { throw CommandFailure("There is no sample card.") }
        let opened = JSONValue.object([
            JSONMember(
                name: "requests",
                value: .array(
                    requests.map { request in
                        .object([
                            "protocol": .string(request.name),
                            "data": .object(request.data.map { JSONMember(name: $0.key, value: .string($0.value)) }),
                        ])
                    }))
        ])
        let answer = try SampleLicence(answering: opened, from: Self.origin, issuer: issuer, card: card, now: Date())
            .answer()
        guard let name = answer["protocol"]?.text, let response = answer["data"]?["response"]?.text else {
            throw CommandFailure("The sample wallet has no answer.")
        }
        return WalletResponse(name: name, response: response)
    }
}

extension TourPerson {
    /// Proves an age if the keys have an invented issuer and the service accepts wallets.
    func proveAge(in session: Session) async throws {
        guard let wallet = tour.wallet else { return }
        try await wallet.register(String(session.address.prefix { $0 != "/" }))
        tour.script.expect("A wallet is asked whether the user is 18", "Its answer leaves one bit")
        let result: WalletResult
        do {
            result = try await app.card.present(.over18, origin: TourWallet.origin) { try wallet.answer(to: $0) }
        } catch let error as Refusal where error.problem?.code == .notFound {
            return tour.script.show("wallet.yaml enables no wallets, so no age is proved")
        }
        guard result == .age(true) else { throw CommandFailure("The wallet did not prove the age.") }
        tour.script.show("age_over_18: true")
    }
}
