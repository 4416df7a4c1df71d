import Domain
import HTTPTypes
import Hummingbird
import Operations

extension Service {
    /// The provider or application that calls, proved by the request's bearer token.
    ///
    /// - Parameter scope: what an access token must permit; `nil` if any token of the provider is enough.
    func caller(of request: Request, for scope: ProviderScope?, at cost: CallCost) async throws -> ProvenProvider {
        let caller = try await authenticateProvider(request.bearer, for: scope, in: request.named, at: cost)
        ResponseCarrier.current?.act(for: caller.id)
        return caller
    }

    /// The provider or application that makes a change, proved by a fresh proof instead of the access token or in addition
    /// to it.
    ///
    /// - Parameters:
    ///   - body: the request's body, which the proof names.
    ///   - scope: what an access token must permit as well; `nil` if any token of the provider is enough.
    func changer(
        of request: Request, _ body: [UInt8] = [], for scope: ProviderScope? = nil, at cost: CallCost
    ) async throws -> FreshProof {
        let caller = try await freshProof(
            request.bearer, beside: try request.countersignProof, of: scope, for: request.proven(body), at: cost)
        ResponseCarrier.current?.act(for: caller.id)
        return caller
    }
}

extension Request {
    /// The request that a fresh proof must name.
    func proven(_ body: [UInt8]) -> ProvenRequest {
        ProvenRequest(method: method.rawValue, path: uri.path, query: uri.query, body: body)
    }

    /// The request that a bearer token may name; its body has not been read yet.
    var named: ProvenRequest { proven([]) }

    /// The fresh proof in addition to an access token.
    var countersignProof: String? {
        get throws(Refusal) {
            let fields = headers.values(of: .countersignProof)
            guard fields.count <= 1 else {
                throw Refusal.severalFields("Countersign-Proof")
            }
            return fields.first
        }
    }
}
