import Domain
import Encoding
import Foundation
import HTTPTypes
import Hummingbird
import Operations

/// The transmitter of the OpenID Shared Signals Framework 1.0, on the public listener: its metadata, the streams of
/// providers, and the poll endpoint of each stream (RFC 8936). Unknown members of a request are ignored.
struct SharedSignalsRoutes: Sendable {
    let service: Service
    /// Whether receivers may be on this machine.
    let allowsLoopback: Bool
    private let metadata = LatestBuffer()

    func add(to router: ListedRouter<PublicContext>) {
        let router = router.ofProviders.ignoringUnknownParameters
        let configuration: ListedRouter<PublicContext>.Handler = { _, _ in describe() }
        let issuer = service.urls.issuer
        router.get(".well-known/ssf-configuration", cost: .free, describing: { issuer }, use: configuration)
        router.post("ssf/streams", cost: .write, use: create)
        router.get("ssf/streams", cost: .read, query: ["stream_id"], use: readStreams)
        router.patch("ssf/streams", cost: .write) { try await update($0, $1, isWhole: false) }
        router.put("ssf/streams", cost: .write) { try await update($0, $1, isWhole: true) }
        router.delete("ssf/streams", cost: .write, query: ["stream_id"]) { request, context in
            _ = try await caller(of: request, for: .ssfManage, at: context.cost)
            let caller = try await service.changer(of: request, for: .ssfManage, at: .free)
            try await service.deleteEventStream(try Self.streamID(of: request), by: caller)
            return Response(status: .noContent)
        }
        router.get("ssf/status", cost: .read, query: ["stream_id"]) { request, context in
            let caller = try await caller(of: request, for: .ssfRead, at: context.cost)
            return status(of: try await service.readEventStream(try Self.streamID(of: request), of: caller.id))
        }
        router.post("ssf/status", cost: .write, use: setStreamStatus)
        router.post("ssf/subjects/add", cost: .write) { request, context in
            let caller = try await caller(of: request, for: .ssfManage, at: context.cost)
            var members = try await request.members(upTo: service.policy[\.requests].maximumBody)
            let (subject, id) = try Self.subject(&members)
            try await service.addEventSubject(subject, to: id, by: caller)
            return Response(status: .ok)
        }
        router.post("ssf/subjects/remove", cost: .write) { request, context in
            let (caller, body) = try await changer(reading: request, at: context.cost)
            var members = try request.members(body)
            let (subject, id) = try Self.subject(&members)
            try await service.removeEventSubject(subject, from: id, by: caller)
            return Response(status: .noContent)
        }
        router.post("ssf/verification", cost: .write, use: requestVerification)
        router.post("ssf/poll/:stream_id", cost: .heavy, use: pollEvents)
    }

    /// Authenticates the caller. A token in the URL is refused (RFC 6750 §2.3), because logs contain URLs.
    private func caller(
        of request: Request, for scope: ProviderScope, at cost: CallCost
    ) async throws -> Service.ProvenProvider {
        guard request.uri.queryParameters["access_token"] == nil else {
            throw Refusal.tokenInURL
        }
        return try await service.caller(of: request, for: scope, at: cost)
    }

    /// Authenticates a change of a stream, its status or its users and reads its body, which is read only after the token
    /// was verified, and the call counted for it.
    private func changer(
        reading request: Request, at cost: CallCost
    ) async throws -> (Service.FreshProof, body: [UInt8]) {
        _ = try await caller(of: request, for: .ssfManage, at: cost)
        let body = try await request.bytes(upTo: service.policy[\.requests].maximumBody)
        return (try await service.changer(of: request, body, for: .ssfManage, at: .free), body)
    }

    // MARK: Streams

    @Sendable private func create(_ request: Request, _ context: PublicContext) async throws -> Response {
        let caller = try await caller(of: request, for: .ssfManage, at: context.cost)
        let body = try await request.bytes(upTo: service.policy[\.requests].maximumBody)
        var members = try request.members(body)
        let wanted = try EventStream.Change(&members)
        let stream = try await service.createEventStream(
            wanted, proof: try await proof(of: request, body, by: caller), by: caller,
            allowingLoopback: allowsLoopback)
        return .json(status: .created, document.json(stream).buffer)
    }

    @Sendable private func readStreams(_ request: Request, _ context: PublicContext) async throws -> Response {
        let caller = try await caller(of: request, for: .ssfRead, at: context.cost)
        guard request.uri.queryParameters["stream_id"] != nil else {
            try await context.carrier.reserve(upTo: EventStream.largestList)
            return .json(JSONValue.array(try await service.listEventStreams(of: caller.id).map(document.json)).buffer)
        }
        return .json(
            document.json(try await service.readEventStream(try Self.streamID(of: request), of: caller.id)).buffer)
    }

    private func update(_ request: Request, _ context: PublicContext, isWhole: Bool) async throws -> Response {
        let (caller, body) = try await changer(reading: request, at: context.cost)
        var members = try request.members(body)
        let id = try Self.streamID(try members.string("stream_id"))
        try document.requireUnchanged(&members, of: try await service.readEventStream(id, of: caller.id))
        let given = try EventStream.Change(&members)
        let stream = try await service.updateEventStream(
            id, isWhole ? given.whole : given, by: caller, allowingLoopback: allowsLoopback)
        return .json(document.json(stream).buffer)
    }

    /// The fresh proof in addition to the access token. Without one, a push address needs an operator's approval.
    private func proof(
        of request: Request, _ body: [UInt8], by caller: Service.ProvenProvider
    ) async throws -> Service.FreshProof? {
        guard let proof = try request.countersignProof else { return nil }
        return try await service.freshProof(proof, like: caller, for: request.proven(body))
    }

    private var document: EventStreamDocument {
        EventStreamDocument(urls: service.urls, policy: service.policy[\.webhooks])
    }

    // MARK: Status and verification

    private func status(of stream: EventStream, asked: EventStream.Status? = nil) -> Response {
        let (status, reason) = stream.present
        return .json(
            status: asked == nil || asked == status ? .ok : .accepted,
            [
                "stream_id": .id(stream.id), "status": .string(status.rawValue),
                "reason": reason.map { .string($0) },
            ])
    }

    @Sendable private func setStreamStatus(_ request: Request, _ context: PublicContext) async throws -> Response {
        let (caller, body) = try await changer(reading: request, at: context.cost)
        var members = try request.members(body)
        let id = try Self.streamID(try members.string("stream_id"))
        guard let status = EventStream.Status(rawValue: try members.string("status")) else {
            throw Refusal.memberMustBeOneOf(EventStream.Status.self, "status")
        }
        let reason = try members.shownText("reason")
        return self.status(
            of: try await service.setEventStreamStatus(id, status, because: reason, by: caller), asked: status)
    }

    @Sendable private func requestVerification(_ request: Request, _ context: PublicContext) async throws -> Response {
        let caller = try await caller(of: request, for: .ssfManage, at: context.cost)
        var members = try await request.members(upTo: service.policy[\.requests].maximumBody)
        let id = try Self.streamID(try members.string("stream_id"))
        try await service.verifyEventStream(id, state: try members.shortText("state"), by: caller)
        return Response(status: .noContent)
    }

    // MARK: Subjects

    /// Parses a request about a subject of a stream (SSF 1.0 §8.1.3).
    private static func subject(_ members: inout JSONBodyDecoder) throws -> (SubjectIdentifier, EventStreamID) {
        let id = try streamID(try members.string("stream_id"))
        guard let subject = SubjectIdentifier(try members.value("subject")) else {
            throw Refusal.memberMustBe("a subject identifier of RFC 9493", "subject")
        }
        switch try members.optionalValue("verified") {
        case nil, .null, .bool: break
        default: throw Refusal.memberMustBe("true or false", "verified")
        }
        return (subject, id)
    }

    // MARK: Poll

    @Sendable private func pollEvents(_ request: Request, _ context: PublicContext) async throws -> Response {
        let caller = try await caller(of: request, for: .ssfManage, at: context.cost)
        var members = try await request.members(upTo: service.policy[\.requests].maximumBody)
        let question = try EventPoll(&members)
        let id = try Self.streamID(try context.parameters.require("stream_id"))
        let carrier = try context.carrier
        let answer = try await carrier.whileAwaited {
            try await service.pollEvents(question, of: id, by: caller) { try await carrier.reserve(upTo: $0) }
        }
        return .json([
            "sets": .object(answer.tokens.map { JSONMember(name: $0.id, value: .string($0.token)) }),
            "moreAvailable": .bool(answer.hasMore),
            "unknownIds": answer.unknown.isEmpty ? nil : .array(answer.unknown.map { .string($0) }),
        ])
    }

    private static func streamID(of request: Request) throws(Refusal) -> EventStreamID {
        guard let text = request.uri.queryParameters["stream_id"] else {
            throw Refusal.queryLacks("stream_id")
        }
        return try streamID(String(text))
    }

    private static func streamID(_ text: String) throws(Refusal) -> EventStreamID {
        guard let id = EventStreamID(text[...]) else { throw Refusal.unknownOwnEventStream }
        return id
    }

    // MARK: Metadata

    /// The metadata of SSF 1.0 §7.1. A stream carries the events of all users of its provider except those that were
    /// removed.
    private func describe() -> Response {
        let issuer = service.urls.issuer
        let document = JSONValue.object([
            "issuer": .string(issuer), "spec_version": .string("1_0"),
            "jwks_uri": .string("\(issuer)/.well-known/jwks.json"),
            "delivery_methods_supported": .array(EventStreamDocument.Method.allCases.map { .string($0.rawValue) }),
            "configuration_endpoint": .string("\(issuer)/ssf/streams"),
            "status_endpoint": .string("\(issuer)/ssf/status"),
            "verification_endpoint": .string("\(issuer)/ssf/verification"),
            "add_subject_endpoint": .string("\(issuer)/ssf/subjects/add"),
            "remove_subject_endpoint": .string("\(issuer)/ssf/subjects/remove"),
            "authorization_schemes": .array([.object(["spec_urn": .string("urn:ietf:rfc:6749")])]),
            "default_subjects": .string("ALL"),
        ])
        return Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(shared: metadata.sharing(document.buffer)))
    }
}
