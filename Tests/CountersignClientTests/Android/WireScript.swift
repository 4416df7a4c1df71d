import CountersignClient
import Fixtures
import Foundation
import HTTPTypes
import Testing

/// The same calls as those of `WireScript.java`, against a recorder.
struct WireScript {
    private static let id = UUID(uuidString: "22222222-2222-4222-8222-222222222222") ?? UUID()
    private static let other = UUID(uuidString: "33333333-3333-4333-8333-333333333333") ?? UUID()
    let client: Countersign
    /// Another device, of which the platform attests the key.
    private let attested: Countersign
    private let attestedKeys: FileKeys

    init(publicURL: URL, clientURL: URL, authority: String, place: ScratchDirectory) {
        let service = Service(
            publicURL: publicURL, clientURL: clientURL, pins: [], roots: .pem(authority), appID: Self.other)
        attestedKeys = FileKeys(directory: URL(filePath: place.file("attested-keys")))
        attested = Countersign(
            service, keys: attestedKeys, store: FileStore(file: URL(filePath: place.file("attested.json"))))
        client = Countersign(
            service, keys: FileKeys(directory: URL(filePath: place.file("keys"))),
            store: FileStore(file: URL(filePath: place.file("secret.json"))),
            presence: Presence(keys: FileKeys(directory: URL(filePath: place.file("presence"))), method: "pin"))
    }

    func run() async throws {
        try await attested.certify(
            attestedBy: .androidKey { [attestedKeys] name, _ in
                _ = try attestedKeys.make(name)
                return [Data([1, 2, 3]), Data([255])]
            })
        try await client.certify(.enrolmentToken("enrolment"))
        try await client.signIn { nonce in "identity-token of \(nonce.value)" }
        _ = try await client.resume()
        _ = try await client.call(
            HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/sessions/current"))
        try await user()
        try await permissions()
        try await streams()
        _ = try await client.accessToken(for: "https://api.example.com/?a=b&c")
        try await client.signOut(everywhere: true)
    }

    private func user() async throws {
        let verification = try await client.phone.start(
            "+14155550101", region: "US", pushEndpoint: "arn:aws:sns:one")
        _ = try await client.phone.resend(verification)
        try await client.phone.check("000000", of: verification)
        _ = try await client.card.submit(.aamva("@\n\u{1e}\rANSI"))
        _ = try await client.card.submit(.mrz(["P<UTO", "L898902C3"]))
        _ = try await client.card.result(Self.id)
        _ = try await client.card.present(.over18, origin: "https://app.example") { requests in
            WalletResponse(name: requests.first?.name ?? "", response: "jwe")
        }
        let link = try #require(URL(string: "https://app.example/wallet"))
        _ = try await client.card.present(.over18, returningTo: link) { _ in
            try #require(URL(string: "https://app.example/wallet#response_code=code"))
        }
        _ = try await client.profile()
        _ = try await client.setMessageStorage(.untilDelivered)
        try await client.streams.setPresence(.hidden)
        try await client.registerForPushes("arn:aws:sns:one")
        _ = try await client.apps()
        try await client.forbid(app: Self.id)
        try await client.allow(app: Self.id)
    }

    private func permissions() async throws {
        let permissions = client.permissions
        try await permissions.ask("devices/bob", event: "event é", id: Self.id)
        try await permissions.answer(Self.id, .approval)
        try await permissions.answer(Self.id, .rejection)
        try await permissions.cancel(Self.id)
        _ = try await permissions.show(Self.id)
        _ = try await permissions.list(.outgoing, state: .approved, cursor: "next page+/=")
        _ = try await permissions.list()
        for try await _ in permissions.grants {}
        try await permissions.block(Self.id)
        try await permissions.unblock(Self.id)
        try await permissions.block(requesterOf: Self.id)
        try await permissions.unblock(requesterOf: Self.id)
    }

    private func streams() async throws {
        let (streams, id, other) = (client.streams, Self.id, Self.other)
        try await streams.open(
            StreamOpening(
                .conversation, members: ["devices/bob"], title: "Plans", about: "What we do",
                imageURL: "https://example.com/a.png",
                metadata: .object(["a": .list([.integer(1), .bool(true), .null, .number(0.5)])]), id: id))
        let parts = [MessagePart.text("one 😀"), MessagePart(.bytes(Data([0, 255])), type: "image/png")]
        try await streams.append(NewMessage(parts, inReplyTo: id, id: other), to: id)
        _ = try await streams.list(.forum, cursor: "next")
        _ = try await streams.show(id)
        _ = try await streams.messages(in: id, after: 7)
        _ = try await streams.messages(in: id, before: nil, limit: 2)
        try await streams.acknowledge(deliveredThrough: 9, readThrough: 2, in: id)
        try await streams.typing(in: id)
        try await streams.add(other, to: id)
        try await streams.remove(other, from: id)
        try await streams.delete(other, in: id)
        try await streams.deleteForMe(other, in: id)
        _ = try await streams.synchronize()
        try await streams.delete(id)
    }
}
