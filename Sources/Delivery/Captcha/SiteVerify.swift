import AsyncHTTPClient
import Domain
import Encoding
import Foundation

/// Asks a siteverify-style endpoint whether a captcha was solved: a form with `secret` and `response`, answered by JSON
/// with `success`.
package struct SiteVerify: Sendable {
    private let http: BoundedHTTPClient
    private let secret: @Sendable (_ path: String) throws -> String

    /// From the question to the last byte of the answer, seconds.
    private static let timeout: TimeInterval = 5

    /// Why there is no verdict, for the log.
    private enum Failure: Error, CustomStringConvertible {
        case noEndpoint
        case emptySecret
        case unanswered(String)
        case status(UInt)
        case notVerdict

        var description: String {
            switch self {
            case .noEndpoint: "the endpoint is no https URL, or http URL on loopback"
            case .emptySecret: "the secret's file is empty"
            case .unanswered(let reason): reason
            case .status(let code): "status \(code)"
            case .notVerdict: "the answer is no verdict"
            }
        }
    }

    /// - Parameters:
    ///   - http: a client made with `AsyncHTTPClient/HTTPClient/Configuration/delivery(_:)`. It follows no redirect: the
    ///     secret goes to the endpoint that the policy names and nowhere else.
    ///   - secret: reads a secret file by its path.
    package init(http: HTTPClient, secret: @escaping @Sendable (_ path: String) throws -> String) {
        self.http = BoundedHTTPClient(http: http, timeout: Self.timeout)
        self.secret = secret
    }

    /// Whether the endpoint accepts a captcha's response.
    ///
    /// - Throws: `Refusal` `unavailable` if the endpoint cannot be asked: nobody is certified unasked.
    package func accepts(_ response: String, by rules: CertificationPolicy) async throws(Refusal) -> Bool {
        do {
            return try await ask(response, rules)
        } catch {
            throw Refusal(
                .unavailable, "The captcha cannot be checked at this moment; nothing was changed.", retryAfter: 5,
                privateDetail: "siteverify: \(ErrorWords.of(error))")
        }
    }

    private func ask(_ response: String, _ rules: CertificationPolicy) async throws -> Bool {
        guard let url = ServiceURL(rules.captchaURL) else { throw Failure.noEndpoint }
        // Read again each time: the operator may have put another there.
        let secret = try secret(rules.captchaSecretFile).trimmingCharacters(in: .whitespacesAndNewlines)
        guard !secret.isEmpty else { throw Failure.emptySecret }
        let form = PercentEncoding.form([("secret", secret), ("response", response)])
        let headers = [
            (name: "Content-Type", value: "application/x-www-form-urlencoded"),
            (name: "Accept", value: "application/json"),
        ]
        switch await http.post(form, to: url.web, headers: headers) {
        case .failed(let reason): throw Failure.unanswered(reason)
        case .answered(200, let body?):
            guard case .bool(let success)? = try? StrictJSON.parse(body)["success"] else { throw Failure.notVerdict }
            return success
        case .answered(200, nil): throw Failure.notVerdict
        case .answered(let status, _): throw Failure.status(status)
        }
    }
}
