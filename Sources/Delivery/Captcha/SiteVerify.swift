import AsyncHTTPClient
import Domain
import Encoding
import Foundation

/// Verifies a captcha with a siteverify endpoint: a form with `secret` and `response`, answered by JSON with
/// `success`.
package struct SiteVerify: Sendable {
    private let http: BoundedHTTPClient
    private let secret: @Sendable (_ path: String) throws -> String

    /// From the request to the last byte of the response, seconds.
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
            case .noEndpoint: "the endpoint is not an https URL, or an http URL on loopback"
            case .emptySecret: "the secret's file is empty"
            case .unanswered(let reason): reason
            case .status(let code): "status \(code)"
            case .notVerdict: "the response is not a verdict"
            }
        }
    }

    /// - Parameters:
    ///   - http: a client made with `AsyncHTTPClient/HTTPClient/Configuration/delivery(_:)`. It follows no redirect, so
    ///     the secret is sent only to the policy's endpoint.
    ///   - secret: reads a secret file by its path.
    package init(http: HTTPClient, secret: @escaping @Sendable (_ path: String) throws -> String) {
        self.http = BoundedHTTPClient(http: http, timeout: Self.timeout)
        self.secret = secret
    }

    /// Whether the endpoint accepts a captcha's response.
    ///
    /// - Throws: `Refusal` `unavailable` if the endpoint does not respond: no device is certified without a verdict.
    package func accepts(_ response: String, by rules: CertificationPolicy) async throws(Refusal) -> Bool {
        do {
            return try await ask(response, rules)
        } catch {
            throw Refusal.captchaUnavailable("siteverify: \(ErrorWords.of(error))")
        }
    }

    private func ask(_ response: String, _ rules: CertificationPolicy) async throws -> Bool {
        guard let url = ServiceURL(rules.captchaURL) else { throw Failure.noEndpoint }
        // Read each time, because the operator may have replaced it.
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
