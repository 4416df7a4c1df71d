import Domain
import Encoding
import HTTPTypes
import Hummingbird
import Operations

/// Streams of messages between users. Client listener, with a session.
struct MessageStreamRoutes: Sendable {
    let service: Service

    func add(to router: ListedRouter<ClientContext>, behind session: RequireSession) {
        let streams = router.group("streams").behind(session)
        streams.post(cost: .write, use: openStream)
        streams.get(cost: .heavy, query: Self.filters, use: listStreams)
        streams.get(":id", cost: .heavy) { _, context in
            try service.limitStreamReads(on: try context.connection)
            try await context.carrier.reserve(upTo: MessageStreamView.largestWhole)
            let view = try await service.readMessageStream(try Self.id(context), to: try context.checkedSession)
            return Response.json(MessageStreamBody.row(view).buffer)
        }
        streams.delete(":id", cost: .write) { _, context in
            try await service.deleteMessageStream(try Self.id(context), for: try context.checkedSession)
            return Response(status: .noContent)
        }
        streams.post(":id/receipts", cost: .write, use: raiseReceipts)
        streams.post(":id/typing", cost: .write) { _, context in
            try await service.sayTyping(in: try Self.id(context), for: try context.checkedSession)
            return Response(status: .noContent)
        }
        streams.put(":id/members/:user", cost: .write) { _, context in
            try await service.addMember(
                try context.parameters.require("user"), to: try Self.id(context), for: try context.checkedSession)
            return Response(status: .noContent)
        }
        streams.delete(":id/members/:user", cost: .write) { _, context in
            try await service.removeMember(
                try context.parameters.require("user"), from: try Self.id(context), for: try context.checkedSession)
            return Response(status: .noContent)
        }
        streams.patch(":id/metadata", cost: .write) { request, context in
            let (change, session) = (try await change(in: request), try context.checkedSession)
            let value = try await service.changeSharedMetadata(change, in: try Self.id(context), for: session)
            return Response.json(["metadata": value])
        }
        streams.patch(":id/metadata/private", cost: .write) { request, context in
            let (change, session) = (try await change(in: request), try context.checkedSession)
            let value = try await service.changeOwnMetadata(change, in: try Self.id(context), for: session)
            return Response.json(["private_metadata": value])
        }
        addEvents(to: streams)
        let sync = router.group("sync").behind(session)
        sync.get(cost: .heavy, query: ["anchor", "wait", "presence"], use: synchronizeStreams)
        PresenceRoutes(service: service).add(to: router, behind: session)
    }

    private func addEvents(to streams: ListedRouter<ClientContext>) {
        streams.post(":id/events", cost: .write, largestBody: MessageBody.largestJSON, use: appendMessage)
        streams.get(":id/events", cost: .heavy, query: ["after", "before", "limit"], use: readMessages)
        streams.delete(":id/events/:event", cost: .write) { _, context in
            try await service.deleteMessage(
                try Self.event(context), in: try Self.id(context), for: try context.checkedSession)
            return Response(status: .noContent)
        }
        streams.delete(":id/events/:event/copy", cost: .write) { _, context in
            try await service.deleteMessageCopy(
                try Self.event(context), in: try Self.id(context), for: try context.checkedSession)
            return Response(status: .noContent)
        }
        streams.patch(":id/events/:event/metadata", cost: .write) { request, context in
            let (change, session) = (try await change(in: request), try context.checkedSession)
            let value = try await service.changeSharedMessageMetadata(
                change, of: try Self.event(context), in: try Self.id(context), for: session)
            return Response.json(["metadata": value])
        }
        streams.patch(":id/events/:event/metadata/private", cost: .write) { request, context in
            let (change, session) = (try await change(in: request), try context.checkedSession)
            let value = try await service.changeOwnMessageMetadata(
                change, of: try Self.event(context), in: try Self.id(context), for: session)
            return Response.json(["private_metadata": value])
        }
    }

    private static let filters: RouteQuery = ["kind", "member", "metadata.shared.", "metadata.private.", "cursor"]

    private static func id(_ context: ClientContext) throws -> String { try context.parameters.require("id") }

    private static func event(_ context: ClientContext) throws -> String { try context.parameters.require("event") }

    @Sendable private func openStream(_ request: Request, _ context: ClientContext) async throws -> Response {
        var body = try await request.members(upTo: service.policy[\.requests].maximumBody)
        let opening = try StreamOpening(
            id: try body.string("id"), kind: try body.string("kind"), members: try body.optionalValue("members"),
            title: try body.optionalString("title"), description: try body.optionalString("description"),
            imageURL: try body.optionalString("image_url"), metadata: try body.optionalValue("metadata"))
        try body.rejectUnknown()
        let stream = try await service.openMessageStream(opening, for: try context.checkedSession)
        return .json(
            status: .created,
            [
                "id": .id(stream.id), "kind": .string(stream.kind.rawValue),
                "created_at": .string(stream.createdAt.rfc3339),
            ])
    }

    @Sendable private func listStreams(_ request: Request, _ context: ClientContext) async throws -> Response {
        let query = request.uri.queryParameters
        let (shared, own) = MessageStreamFilter.parameters
        let metadata = query.filter { $0.key.utf8.starts(with: shared.utf8) || $0.key.utf8.starts(with: own.utf8) }
        let filter = try MessageStreamFilter(
            kind: query["kind"].map(String.init), cursor: query["cursor"].map(String.init),
            member: query["member"].map(String.init), metadata: metadata.map { (String($0.key), String($0.value)) },
            indexed: service.policy[\.streams].indexedMetadata)
        try service.limitStreamReads(on: try context.connection)
        try await context.carrier.reserve(upTo: Service.MessageStreamPage.largest)
        let page = try await service.listMessageStreams(filter, for: try context.checkedSession)
        return .json(["streams": .array(page.views.map(MessageStreamBody.row)), "cursor": .text(page.cursor)])
    }

    @Sendable private func appendMessage(_ request: Request, _ context: ClientContext) async throws -> Response {
        var body = try await request.members(
            upTo: MessageBody.largestJSON, reservedAbove: service.policy[\.requests].maximumBody,
            by: try context.carrier)
        let wanted = try Service.NewMessage(
            id: try body.string("id"), parts: try body.value("parts"),
            inReplyTo: try body.optionalString("in_reply_to"))
        try body.rejectUnknown()
        let message = try await service.appendMessage(wanted, to: try Self.id(context), for: try context.checkedSession)
        return .json(
            status: .created,
            [
                "id": .id(message.id), "sequence": .integer(message.sequence),
                "sent_at": .string(message.sentAt.rfc3339), "thread": message.thread.map { .id($0) },
            ])
    }

    @Sendable private func readMessages(_ request: Request, _ context: ClientContext) async throws -> Response {
        let query = request.uri.queryParameters
        let range = try Service.MessageRange(
            after: query["after"].map(String.init), before: query["before"].map(String.init),
            limit: query["limit"].map(String.init))
        try service.limitStreamReads(on: try context.connection)
        try await context.carrier.reserve(upTo: Service.MessagePage.largest)
        let page = try await service.readMessages(range, of: try Self.id(context), for: try context.checkedSession)
        return .json([
            "events": .array(page.views.map(MessageStreamBody.message)), "more": .bool(page.hasMore),
            "last_sequence": .integer(page.lastSequence), "profiles": .array(page.profiles.map(\.json)),
        ])
    }

    @Sendable private func raiseReceipts(_ request: Request, _ context: ClientContext) async throws -> Response {
        var body = try await request.members(upTo: service.policy[\.requests].maximumBody)
        let delivered = try body.sequence("delivered_through")
        let read = try body.sequence("read_through")
        try body.rejectUnknown()
        let receipts = try await service.acknowledgeMessages(
            delivered: delivered, read: read, in: try Self.id(context), for: try context.checkedSession)
        return .json(["delivered_through": .integer(receipts.delivered), "read_through": .integer(receipts.read)])
    }

    /// The bounds of a message's metadata are smaller: see `MetadataChange`.
    private func change(in request: Request) async throws -> Service.MetadataChange {
        var body = try await request.members(upTo: service.policy[\.requests].maximumBody)
        let (set, merge) = (try body.optionalValue("set"), try body.optionalValue("merge"))
        try body.rejectUnknown()
        switch (set, merge) {
        case (let set?, nil): return .set(try StreamMetadata(set, about: .newMetadata, within: .stream))
        case (nil, let merge?): return .merge(merge)
        default: throw Refusal.oneMemberOf(["set", "merge"])
        }
    }

    @Sendable private func synchronizeStreams(_ request: Request, _ context: ClientContext) async throws -> Response {
        let query = request.uri.queryParameters
        let anchor = try Service.SyncAnchor(query["anchor"].map(String.init))
        let wait = try query["wait"].map { text in
            guard text.utf8.count <= 4, let seconds = UInt16(text) else {
                throw Refusal.parameterMustBe("a whole number of seconds", "wait")
            }
            return Double(seconds)
        }
        // A longer wait is shortened, and the response says so.
        let granted = min(wait ?? 0, service.policy[\.streams].pollWait)
        let watched = try Service.PresenceQuestion(query["presence"], in: "presence")
        let session = try context.checkedSession
        try service.limitStreamReads(on: try context.connection)
        let answer = try await context.carrier.whileAwaited {
            try await service.synchronizeMessages(since: anchor, wait: granted, presenceOf: watched, for: session)
        }
        return .json([
            "anchor": .string(answer.anchor.text), "more": .bool(answer.hasMore), "wait": .integer(Int64(granted)),
            "operations": .array(answer.operations.map(MessageStreamBody.operation)),
            "typing": .array(answer.typing.map(MessageStreamBody.typing)),
            "presence": .array(answer.presence.map(PresenceRoutes.json)),
        ])
    }
}

extension JSONBodyDecoder {
    /// An optional number of a message, at least 0.
    fileprivate mutating func sequence(_ name: String) throws(Refusal) -> Int64? {
        switch try optionalValue(name) {
        case nil, .null: return nil
        case .integer(let number) where number >= 0: return number
        default: throw Refusal.memberMustBe("a whole number of 0 or more", name)
        }
    }
}
