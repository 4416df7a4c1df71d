import Domain
import Encoding
import Foundation
import HTTPTypes
import Hummingbird
import Testing

@testable import API

/// One answer of one route: a success, or a refusal by its code and reason.
struct RouteCase: Sendable, CustomTestStringConvertible {
    /// Method and template, such as `DELETE /sessions/{id}`.
    let route: String
    let status: Int
    let code: String?
    /// Looked at if the case names one.
    let reason: String?
    private let policy: Policy
    private let call: @Sendable (RouterBench) async throws -> Reply

    init(
        _ route: String, _ status: Int, _ code: Refusal.Code? = nil, reason: String? = nil,
        policy: Policy = Policy(),
        _ call: @escaping @Sendable (RouterBench) async throws -> Reply
    ) {
        (self.route, self.status, self.code, self.reason) = (route, status, code?.rawValue, reason)
        (self.policy, self.call) = (policy, call)
    }

    var testDescription: String { ([route, "\(status)"] + [code, reason].compactMap(\.self)).joined(separator: " ") }

    /// Does it, and judges what holds for every answer.
    func run() async throws {
        try await RouterBench.run(policy) { bench in
            let reply = try await call(bench)
            let shown = "\(reply.status) \(String(decoding: reply.body, as: UTF8.self))"
            #expect(reply.status == status && reply.code == code, "\(shown)")
            #expect(reason == nil || reply.text("reason") == reason, "\(shown)")
            #expect(Self.fits(reply, route), "\(reply.method) \(reply.path) is another route's answer")
            reply.judge()
            if status < 300 { reply.judgeIdentifiers() }
        }
    }

    private static func fits(_ reply: Reply, _ route: String) -> Bool {
        let words = route.split(separator: " ", maxSplits: 1)
        let template = words[1].split(separator: "/")
        let path = reply.path.prefix { $0 != "?" }.split(separator: "/")
        return words[0] == reply.method.rawValue && template.count == path.count
            && zip(template, path).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }
}

extension Reply {
    /// What holds for every answer: a problem is whole (RFC 9457), a refused caller learns how to go on, a length is true,
    /// and what holds a secret is not stored.
    func judge() {
        let shown = "\(method) \(path) \(status)"
        if let length = headers[.contentLength], method != .head { #expect(length == "\(body.count)", "\(shown)") }
        let ids = headers[values: .known("X-Request-ID")]
        #expect(ids.count == 1 && ids.allSatisfy { UUID(uuidString: $0) != nil }, "\(shown)")
        if status == 204 { #expect(body.isEmpty && headers[.contentLength] == nil, "\(shown)") }
        let isJSON = headers[.contentType]?.hasSuffix("json") ?? false
        guard status >= 400 else {
            if listener == .client, isJSON, !path.hasPrefix("/.well-known/") {
                #expect(headers[.cacheControl] == "no-store", "\(shown)")
            }
            return
        }
        guard path != "/readyz" else { return }
        judgeForm(shown)
        #expect(headers[.cacheControl] == "no-store", "\(shown)")
        #expect(self["status"] == .integer(Int64(status)), "\(shown)")
        for member in ["type", "title", "code", "detail", "request_id"] {
            #expect(text(member)?.isEmpty == false, "\(shown) lacks \(member)")
        }
        #expect(text("request_id") == ids.first, "\(shown)")
        // A reason leads to its row. That of a ban is the company's own word.
        let reason = code == "user_banned" ? nil : text("reason")
        let row = reason.map { "#\($0)" } ?? ""
        #expect(text("type") == "https://public.example/problems/\(code ?? "")\(row)", "\(shown) has no row")
        if status == 401 {
            let scheme = listener == .client ? "Layer" : "Bearer"
            #expect(headers[.wwwAuthenticate]?.hasPrefix("\(scheme) realm=\"test\"") == true, "\(shown)")
            #expect((text("nonce") != nil) == (listener == .client), "\(shown)")
            if listener == .client {
                let resource = "https://client.example/.well-known/oauth-protected-resource"
                let bearer = "Bearer realm=\"test\", resource_metadata=\"\(resource)\""
                #expect(headers[values: .wwwAuthenticate].last == bearer, "\(shown)")
            }
        }
        if status == 429 { #expect(headers[.retryAfter].flatMap(Int.init) != nil, "\(shown)") }
        if code == "certificate_revoked" { #expect(headers[.connection] == "close", "\(shown)") }
    }

    /// A problem document (RFC 9457); at an endpoint of OAuth its members beside `error` (RFC 6749 §5.2). What no route
    /// has taken is a problem document everywhere.
    private func judgeForm(_ shown: String) {
        let place = String(path.prefix { $0 != "?" })
        // A stream or a request to a wallet is not found by a route, which says so in its own words.
        let ownWords = ["The provider has no such", "The request is unknown", "The service accepts no wallets"]
        let isOwn = ownWords.contains { text("detail")?.hasPrefix($0) == true }
        let isRouted = status != 405 && (status != 404 || isOwn)
        let isOAuth = OAuthError.applies(to: place) && isRouted
        let isEvent = text("err") != nil
        #expect(!isEvent || place == SecurityEventError.path && status == 400 && text("description") == text("detail"))
        #expect(
            headers[.contentType] == (isOAuth || isEvent ? "application/json" : "application/problem+json"), "\(shown)")
        #expect((text("error") != nil) == isOAuth && text("error_description") == (isOAuth ? text("detail") : nil))
    }
}
