import Domain
import Encoding
import Foundation
import PhoneNumbers

/// Twilio's Messages (Twilio API Reference, "Messages resource", `POST …/Accounts/{Sid}/Messages.json`).
struct TwilioMessages: Sender {
    let name = "twilio"
    private let url: ServiceURL
    private let authorization: Secret<String>
    private let origin: (name: String, value: String)
    private let http: BoundedHTTPClient

    /// Sends for one account.
    ///
    /// - Returns: `nil` if the endpoint has a query.
    init?(_ settings: TwilioSettings, secret: Secret<String>, http: BoundedHTTPClient) {
        let path = "/2010-04-01/Accounts/\(PercentEncoding.encode(settings.account))/Messages.json"
        guard let url = settings.endpoint.appending(path) else { return nil }
        self.url = url
        // RFC 7617 §2.
        let user = settings.apiKey.isEmpty ? settings.account : settings.apiKey
        authorization = Secret("Basic " + Data("\(user):\(secret.reveal())".utf8).base64EncodedString())
        origin = settings.origin
        self.http = http
    }

    func carries(_ message: Message) -> Bool {
        if case .text = message { true } else { false }
    }

    /// Twilio has no idempotency id: a text may arrive twice after a retry, with the same code.
    func send(_ message: Message, id: UUID) async -> DeliveryOutcome {
        guard case .text(let number, let body) = message else {
            return .refused(reason: "Twilio sends only texts")
        }
        let form = PercentEncoding.form([("To", number.e164), origin, ("Body", body)])
        let headers = [
            (name: "Authorization", value: authorization.reveal()), (name: "Accept", value: "application/json"),
            (name: "Content-Type", value: "application/x-www-form-urlencoded"),
        ]
        return Self.outcome(of: await http.post(form, to: url.web, headers: headers))
    }

    /// The outcome of an answer. Twilio's code decides (Twilio, "Error and Warning Dictionary"), because its prose
    /// contains the number. An unknown code is taken for an error of the account, and another sender may succeed.
    static func outcome(of answer: BoundedHTTPClient.Answer) -> DeliveryOutcome {
        let (status, body): (UInt, [UInt8]?)
        switch answer {
        case .failed(let reason): return .unavailable(reason: reason)
        case .answered(let code, let content): (status, body) = (code, content)
        }
        let value = body.flatMap { try? StrictJSON.parse($0) }
        if status == 201, let reference = value?["sid"]?.text, isIdentifier(reference) {
            return .sent(reference: reference)
        }
        guard case .integer(let code)? = value?["code"] else { return .unavailable(reason: "HTTP \(status)") }
        return status == 400 && refusals.contains(code)
            ? .refused(reason: "error \(code)") : .unavailable(reason: "error \(code)")
    }

    /// 21211 and 21217 no such number, 21602 no text, 21617 text too long, 21610 the recipient opted out, 21614 not a
    /// mobile number, 21635 a landline.
    private static let refusals: Set<Int64> = [21211, 21217, 21602, 21610, 21614, 21617, 21635]

    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 34 && (text.hasPrefix("SM") || text.hasPrefix("MM"))
            && text.dropFirst(2).allSatisfy(\.isHexDigit)
    }
}
