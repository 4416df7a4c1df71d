import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// A provider's requests to Countersign about its own users, over HTTPS with a provider token.
///
/// The token is signed once and reused until shortly before it expires: no shared secret, and no signature for each
/// call.
actor CountersignService {
    /// Countersign refused: its status, and the `code` of its problem document (RFC 9457), if any.
    struct Refused: Error {
        let status: UInt
        let code: String?
    }

    private let baseURL: String
    private let http: HTTPClient
    private let signer: TokenSigner
    private var knownRealm: String?
    private var providerToken: (value: String, renewAt: Date)?

    init(baseURL: String, http: HTTPClient, signer: TokenSigner) {
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        self.http = http
        self.signer = signer
    }

    /// The name of the installation, which is `aud` of every token; requested once.
    func realm() async throws -> String {
        struct Discovery: Decodable { let realm: String }
        if let knownRealm { return knownRealm }
        let answer = try await send(HTTPClientRequest(url: baseURL + "/.well-known/countersign"))
        let realm = try JSONDecoder().decode(Discovery.self, from: answer).realm
        knownRealm = realm
        return realm
    }

    /// `GET /provider`: this provider's registered slug.
    func registeredSlug() async throws -> String {
        struct Provider: Decodable { let slug: String }
        return try JSONDecoder().decode(Provider.self, from: await call(.GET, "/provider")).slug
    }

    /// `GET /provider/users/{external_id}`: the user's level at Countersign, as JSON (`user_id`, `external_id`,
    /// `assurance`, `age_over_18`, `age_over_21`, `initials`, `banned`). It never has a name, a number or an address.
    func verification(of user: String) async throws -> Data {
        try await call(.GET, "/provider/users/" + Self.percentEncoded(user))
    }

    /// `POST /introspect` (RFC 7662): the session of a token, as JSON; `{"active":false}` if it is not a live session
    /// of this user. An active response only identifies the user. To *authenticate* a caller that sent you the token,
    /// compare `cnf` with the certificate on your own connection to it.
    func introspection(of token: String, user: String) async throws -> Data {
        struct Introspection: Decodable {
            let active: Bool
            let sub: String?
        }
        let answer = try await call(.POST, "/introspect", form: "token=" + Self.percentEncoded(token))
        let introspection = try JSONDecoder().decode(Introspection.self, from: answer)
        return introspection.active && introspection.sub == user ? answer : Data(#"{"active":false}"#.utf8)
    }

    /// `DELETE /provider/users/{external_id}/sessions`: logs a user out on every device.
    func endSessions(of user: String) async throws {
        _ = try await call(.DELETE, "/provider/users/\(Self.percentEncoded(user))/sessions")
    }

    /// `POST /provider/events` (RFC 8935): reports an event of a user, such as a changed password. The token is its own
    /// proof.
    func report(_ securityEventToken: String) async throws {
        var request = HTTPClientRequest(url: baseURL + "/provider/events")
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/secevent+jwt")
        request.headers.add(name: "Accept", value: "application/json")
        request.body = .bytes(ByteBuffer(string: securityEventToken))
        _ = try await send(request)
    }

    func call(
        _ method: HTTPMethod, _ path: String, form: String? = nil, json: Data? = nil
    ) async throws -> Data {
        var request = HTTPClientRequest(url: baseURL + path)
        request.method = method
        request.headers.add(name: "Authorization", value: "Bearer \(try await currentProviderToken())")
        if let form {
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            request.body = .bytes(ByteBuffer(string: form))
        }
        if let json {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: json))
        }
        do {
            return try await send(request)
        } catch let refused as Refused where refused.status == 401 {
            providerToken = nil  // the next call signs a new one
            throw refused
        }
    }

    private func currentProviderToken(now: Date = Date()) async throws -> String {
        if let providerToken, now < providerToken.renewAt { return providerToken.value }
        let value = try signer.providerToken(realm: try await realm(), now: now)
        let reuse = TimeInterval(TokenSigner.providerTokenLifetime - 5 * 60)
        providerToken = (value, now.addingTimeInterval(reuse))
        return value
    }

    private func send(_ request: HTTPClientRequest) async throws -> Data {
        struct Problem: Decodable { let code: String }
        let response = try await http.execute(request, timeout: .seconds(5))
        let body = Data(buffer: try await response.body.collect(upTo: 64 * 1024))
        guard (200..<300).contains(response.status.code) else {
            throw Refused(
                status: response.status.code, code: try? JSONDecoder().decode(Problem.self, from: body).code)
        }
        return body
    }

    /// Leaves only RFC 3986's unreserved characters, so that no user name can change the path.
    private static func percentEncoded(_ text: String) -> String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}
