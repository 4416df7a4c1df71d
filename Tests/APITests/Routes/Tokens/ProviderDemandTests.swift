import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Operations
import Testing

@testable import API

@Suite("What calls of providers demand")
struct ProviderDemandTests {
    /// What a call demands beside a token of the provider's.
    struct Demand: Sendable {
        enum Proof: Sendable { case none, welcome, required }

        /// What an access token must permit; `nil` where any of the provider's does.
        let scope: ProviderScope?
        let proof: Proof

        init(_ scope: ProviderScope?, _ proof: Proof = .none) { (self.scope, self.proof) = (scope, proof) }
    }

    /// Every call of a provider's. What says where events go, whether they go, for whom, or which keys count demands a
    /// proof.
    static let table: [String: Demand] = [
        "GET /provider": Demand(nil),
        "POST /provider/keys": Demand(nil, .required), "DELETE /provider/keys/{key_id}": Demand(nil, .required),
        "POST /introspect": Demand(.sessionsRead), "POST /revoke": Demand(.sessionsEnd),
        "POST /provider/token-check": Demand(.sessionsRead),
        "GET /provider/users/{external_id}": Demand(.usersRead),
        "GET /provider/user-ids/{user_id}": Demand(.usersRead),
        "GET /provider/users/{external_id}/history": Demand(.sessionsRead),
        "DELETE /provider/users/{external_id}/sessions": Demand(.sessionsEnd),
        "POST /provider/users/{external_id}/notifications": Demand(.usersNotify),
        "GET /provider/webhook": Demand(.ssfRead), "POST /provider/webhook/test": Demand(.ssfManage),
        "PUT /provider/webhook": Demand(nil, .required), "DELETE /provider/webhook": Demand(nil, .required),
        "GET /ssf/streams": Demand(.ssfRead), "GET /ssf/status": Demand(.ssfRead),
        // A push address that comes without a proof waits for an operator's approval.
        "POST /ssf/streams": Demand(.ssfManage, .welcome),
        "PATCH /ssf/streams": Demand(.ssfManage, .required), "PUT /ssf/streams": Demand(.ssfManage, .required),
        "DELETE /ssf/streams": Demand(.ssfManage, .required), "POST /ssf/status": Demand(.ssfManage, .required),
        "POST /ssf/verification": Demand(.ssfManage), "POST /ssf/poll/{stream_id}": Demand(.ssfManage),
        "POST /ssf/subjects/add": Demand(.ssfManage), "POST /ssf/subjects/remove": Demand(.ssfManage, .required),
    ]

    @Test("is in the table for each of them, and in the description whether it takes a proof")
    func complete() async throws {
        try await RouterBench.run { bench in
            let described = try await RouteDescription(bench).routes.filter(\.value.needsBearer)
            #expect(Set(described.keys) == Set(Self.table.keys))
            for (route, demand) in Self.table {
                #expect(described[route]?.takesProof == (demand.proof != .none), "\(route)")
            }
        }
    }

    @Test("is the scope of an access token, and a fresh proof for what changes where events go or which keys count")
    func demands() async throws {
        try await RouterBench.run { bench in
            for (route, demand) in Self.table {
                let call = Call(route)
                let all = ProviderScope.allCases
                let whole = try await bench.access(ProviderScope.text(Set(all)))
                for bearer in [whole, try bench.bearer()] {
                    let reply = try await call.send(bench, bearer)
                    #expect(Self.isRefused(reply) == (demand.proof == .required), "\(route): \(reply.status)")
                    if demand.proof == .required {
                        #expect(reply.status == 401 && reply.code == "provider_token_invalid", "\(route)")
                        let proven = try await call.send(bench, bearer, proof: try call.proof(bench))
                        #expect(!Self.isRefused(proven), "\(route): \(proven.status)")
                        let alone = try await call.send(bench, try call.proof(bench))
                        #expect(!Self.isRefused(alone), "\(route): \(alone.status)")
                    }
                }
                guard let scope = demand.scope else { continue }
                var lacking = [ProviderScope.text(Set(all.filter { !scope.isGranted(by: [$0]) }))]
                // Whoever asks for no scope gets none that manages streams.
                if scope == .ssfManage { lacking.append("") }
                for text in lacking {
                    for proof in [nil, try call.proof(bench)] {
                        let refused = try await call.send(bench, try await bench.access(text), proof: proof)
                        #expect(refused.status == 403 && refused.code == "insufficient_scope", "\(route) \(text)")
                    }
                }
            }
        }
    }

    private static func isRefused(_ reply: Reply) -> Bool {
        #expect(reply.status < 500)
        return [401, 403].contains(reply.status)
    }

    /// A call that means nothing, with something in the place of each parameter.
    private struct Call {
        let method: String
        let path: String
        let body: String?
        let type: String

        init(_ route: String) {
            let words = route.split(separator: " ").map(String.init)
            method = words[0]
            path = words[1].split(separator: "/").map { "/" + ($0.hasPrefix("{") ? "x" : String($0)) }.joined()
            let isForm = ["/introspect", "/revoke"].contains(path)
            type = isForm ? RouterBench.form : "application/json"
            body = ["GET", "DELETE"].contains(method) ? nil : isForm ? "token=x" : "{}"
        }

        func proof(_ bench: RouterBench) throws -> String { try bench.proof(method, path, body ?? "") }

        func send(_ bench: RouterBench, _ bearer: String, proof: String? = nil) async throws -> Reply {
            var headers: HTTPFields = [.authorization: "Bearer \(bearer)"]
            if body != nil { headers[.contentType] = type }
            headers[.countersignProof] = proof
            return try await bench.send(
                .public, "\(method) \(path)", headers: headers,
                body: body.map { RequestBody(buffer: ByteBuffer(string: $0)) })
        }
    }
}
