import AsyncHTTPClient
import Foundation
import Identity
import NIOCore
import NIOHTTP1
import Operations

/// Asks a siteverify-style endpoint whether a captcha was solved: a form with `secret` and `response`, answered by JSON
/// with `success`.
struct SiteVerify: Sendable {
    let http: HTTPClient
    let policy: CurrentPolicy

    /// - Throws: ``Refusal`` `unavailable` where the endpoint cannot be asked: nobody is certified unasked.
    func accepts(_ response: String) async throws -> Bool {
        let rules = policy[\.certification]
        do {
            let secret = try String(contentsOfFile: rules.captchaSecretFile, encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            var request = HTTPClientRequest(url: rules.captchaURL)
            request.method = .POST
            request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
            request.body = .bytes(ByteBuffer(string: "secret=\(Self.escape(secret))&response=\(Self.escape(response))"))
            let answer = try await http.execute(request, timeout: .seconds(5))
            let body = try await answer.body.collect(upTo: 65_536)
            guard answer.status == .ok else { throw ChannelError.eof }
            return try StrictJSON.parse(Array(body.readableBytesView))["success"] == .bool(true)
        } catch {
            throw Refusal(
                .unavailable, "The captcha cannot be checked at this moment.", retryAfter: 5, privateDetail: "\(error)")
        }
    }

    private static func escape(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
