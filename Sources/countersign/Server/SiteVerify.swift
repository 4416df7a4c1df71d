import AsyncHTTPClient
import Domain
import Encoding
import Foundation
import NIOCore
import NIOHTTP1
import Operations

/// Asks a siteverify-style endpoint whether a captcha was solved: a form with `secret` and `response`, answered by JSON
/// with `success`.
struct SiteVerify: Sendable {
    /// Follows no redirect: the secret goes to the endpoint that the policy names and nowhere else.
    let http: HTTPClient
    let policy: CurrentPolicy

    /// From the question to the last byte of the answer.
    static let timeout = Duration.seconds(5)
    /// A longer answer is none, bytes.
    static let maximumAnswer = 16_384

    /// Why there is no verdict, for the log.
    private enum Failure: Error, CustomStringConvertible {
        case secret(CommandFailure)
        case emptySecret
        case timedOut
        case status(UInt)
        case notVerdict

        var description: String {
            switch self {
            case .secret(let failure): failure.sentence
            case .emptySecret: "the secret's file is empty"
            case .timedOut: "no answer in time"
            case .status(let code): "status \(code)"
            case .notVerdict: "the answer is no verdict"
            }
        }
    }

    /// - Throws: `Refusal` `unavailable` where the endpoint cannot be asked: nobody is certified unasked.
    func accepts(_ response: String) async throws -> Bool {
        let rules = policy[\.certification]
        do {
            let request = try Self.request(rules, response)
            return try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask { try await ask(request) }
                group.addTask {
                    // The client's own deadline ends with the head; a body may drip for ever.
                    try await Task.sleep(for: Self.timeout)
                    throw Failure.timedOut
                }
                defer { group.cancelAll() }
                return try await group.next() ?? false
            }
        } catch {
            throw Refusal(
                .unavailable, "The captcha cannot be checked at this moment; nothing was changed.", retryAfter: 5,
                privateDetail: "siteverify: \(ErrorWords.of(error))")
        }
    }

    private func ask(_ request: HTTPClientRequest) async throws -> Bool {
        let answer = try await http.execute(request, timeout: .seconds(Self.timeout.components.seconds))
        guard answer.status == .ok else { throw Failure.status(answer.status.code) }
        let body = try await answer.body.collect(upTo: Self.maximumAnswer)
        guard case .bool(let success)? = try? StrictJSON.parse(Array(body.readableBytesView))["success"] else {
            throw Failure.notVerdict
        }
        return success
    }

    private static func request(_ rules: CertificationPolicy, _ response: String) throws -> HTTPClientRequest {
        let secret: String
        do throws(CommandFailure) {
            secret = try KeyFile(path: rules.captchaSecretFile, isPrivate: true).read()
                .trimmingCharacters(in: .whitespacesAndNewlines)
        } catch {
            throw Failure.secret(error)
        }
        guard !secret.isEmpty else { throw Failure.emptySecret }
        var request = HTTPClientRequest(url: rules.captchaURL)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        request.headers.add(name: "accept", value: "application/json")
        request.body = .bytes(ByteBuffer(string: "secret=\(escape(secret))&response=\(escape(response))"))
        return request
    }

    /// RFC 3986 §2.3: what is unreserved stays, everything else is percent-encoded.
    private static func escape(_ text: String) -> String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}
