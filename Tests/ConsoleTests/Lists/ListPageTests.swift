import Domain
import Encoding
import Foundation
import Testing

@testable import Console
@testable import Operations

@Suite("The lists of the console")
struct ListPageTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private static func form() -> Form {
        Form(to: PagePath("/audit/verify"), token: "t", operationID: "o", [], submit: "Verify")
    }

    private static func message(
        _ state: OutboxMessage.State = .dead, reason: String? = nil, expiresIn: TimeInterval = 3600
    ) -> OutboxMessage {
        OutboxMessage(
            id: OutboxMessageID(UUID()), kind: .providerEvent, owner: OutboxOwner(stored: ""), subject: "s",
            userID: UserID(UUID()), deduplicationKey: "k", payload: [], createdAt: now - 60,
            expiresAt: now + expiresIn, dueAt: now + 30, tries: 5, state: state, reason: reason)
    }

    private static func outbox(_ messages: [OutboxMessage], _ state: OutboxMessage.State? = nil) -> Page {
        OutboxListPage(messages: messages, state: state, cursor: nil, now: now).page
    }

    private static func entry(_ text: String, sequence: Int64? = nil) -> ReadAudit.Entry {
        ReadAudit.Entry(
            place: sequence.map { ($0, Digest256.of("x")) },
            entry: AuditEntry(
                id: "e", milliseconds: 1_800_000_000_000, event: text, subject: text, actor: text, detail: text,
                reason: text))
    }

    private static func audit(_ text: String?, _ entries: [ReadAudit.Entry], next: Int64? = nil) -> Page {
        AuditListPage(
            query: AuditQuery(kind: "user", subject: text, event: text, actor: text, since: text, after: nil),
            found: (entries, next), verify: form()
        ).page
    }

    private static func node(_ text: String) -> ClusterMember {
        ClusterMember(
            id: NodeID(UUID()), host: text, version: text, startedAt: now - 86_400, seenAt: now - 2,
            fingerprints: NodeFingerprints(items: [:], policies: [:]))
    }

    private static func provider(_ text: String, issuer: Bool = false, disabledAt: Date? = nil) throws -> Provider {
        Provider(
            id: ProviderID(UUID()), slug: try #require(Slug("acme")), name: text, account: text, avatarHosts: [text],
            createdAt: now, disabledAt: disabledAt,
            issuer: issuer ? ProviderIssuer(url: text, audience: text, algorithms: ["RS256"]) : nil)
    }

    private static func providerPage(_ text: String) throws -> Page {
        let provider = try provider(text, issuer: true)
        let (key, stream) = (ProviderKeyID(UUID()), EventStreamID(UUID()))
        let records = [ProviderKeyRecord.Origin.admin, .provider, .issuer].map { origin in
            ProviderKeyRecord(
                id: key, providerID: provider.id, algorithm: text, subjectPublicKeyInfo: [], origin: origin,
                addedBy: origin == .provider ? key : nil, createdAt: now, retiredAt: nil, revokedAt: nil)
        }
        let detail = Administration.ProviderDetail(
            provider: provider,
            applications: [Application(id: ApplicationID(UUID()), providerID: provider.id, name: text)],
            keys: records, webhook: text, resources: [],
            streams: [
                EventStream(
                    id: stream, provider: provider.id, settings: .init(delivery: .push(text)), status: .disabled,
                    statusReason: text, createdAt: now)
            ])
        let health: Administration.ProviderHealth = (
            deliveries: [(stream, 3, now + 60, now - 120, text)],
            issuer: IssuerReading(attemptedAt: now - 60, readAt: now - 7200, freshUntil: now, failure: text)
        )
        return ProviderPage(detail: detail, health: health, tokenForm: form(), now: now).page
    }

    @Test("show every text as it is, whatever it contains", arguments: Texts.hostile + [Texts.rightToLeft, Texts.long])
    func texts(text: String) throws {
        func shapes(_ text: String) throws -> [PageShape] {
            let row = ConsoleParts.PolicyRow(file: text, key: text, value: text, standard: text, line: 3)
            return [
                Self.outbox([Self.message(reason: text)], .dead),
                Self.audit(text, [Self.entry(text, sequence: 7), Self.entry(text)]),
                NodePages.page([Self.node(text)], at: Self.now, here: (0, 1, 0)),
                PolicyPages.page([row], file: text),
                ProviderListPage(providers: [try Self.provider(text, issuer: true)], cursor: text).page,
                try Self.providerPage(text),
                TokenReportPage.page(
                    ([(.badSignature, text)], [(text, text)], 5), of: try Self.provider(text), again: Self.form()),
            ].map(PageShape.init)
        }
        #expect(try shapes(text) == shapes(Texts.plain))
    }

    @Test("say in a sentence that they are empty")
    func empty() throws {
        #expect(Self.outbox([]).text.contains("There is no such message."))
        #expect(Self.audit(nil, []).text.contains("There is no such entry."))
        #expect(Self.audit(nil, [], next: 3).text.contains("The next page searches older ones."))
        #expect(NodePages.page([], at: Self.now, here: (0, 1, 0)).text.contains("No node serves the store."))
        #expect(PolicyPages.page([], file: "none.yaml").text.contains("There is no such file."))
        #expect(ProviderListPage(providers: [], cursor: nil).page.text.contains("There is no provider."))
    }

    @Test("of messages offer only what is possible for each")
    func messages() {
        let sent = Self.outbox([Self.message(.sent)])
        #expect(!sent.text.contains("/retry\"") && !sent.text.contains("/drop\""))
        let waiting = Self.outbox([Self.message(.waiting)])
        #expect(!waiting.text.contains("/retry\"") && waiting.text.contains("/drop\""))
        let dead = Self.outbox([Self.message(.dead)], .dead)
        #expect(dead.text.contains("/retry\"") && dead.text.contains("href=\"/outbox/retry\""))
        let expired = Self.outbox([Self.message(.dead, expiresIn: -1)])
        #expect(!expired.text.contains("/retry\"") && expired.text.contains("/drop\""))
        let many = Self.outbox((0...50).map { _ in Self.message() }, .dead)
        #expect(many.text.ranges(of: "<th scope=\"row\">").count == 50)
        #expect(many.text.contains("/outbox?state=dead&amp;after="))
    }

    @Test("of a provider say who added each key, how its streams are delivered, and how old its issuer's keys are")
    func providerDetail() throws {
        let text = try Self.providerPage("x").text
        #expect(text.contains("an operator") && text.contains("the key set of the issuer"))
        #expect(text.contains("<td><bdi>key "))
        #expect(text.contains("x; 3 failures in a row; paused until "))
        #expect(text.contains(">2 minutes ago<") && text.contains("fetched <time"))
        #expect(text.contains("; the last attempt failed: x") && text.contains("/providers/acme/disable"))
        let report = TokenReportPage.page(
            ([], [], -3), of: try Self.provider("x"), again: Self.form())
        #expect(report.text.contains("The token has no defect.") && report.text.contains("3 s behind this server"))
    }

    @Test("of the audit log keep their search from page to page, and leave out a field that is empty")
    func audit() {
        let text = Self.audit("a", [Self.entry("a", sequence: 9)], next: 9).text
        #expect(text.contains("/audit?kind=user&amp;subject=a&amp;event=a&amp;actor=a&amp;since=a&amp;after=9"))
        let ids = Self.audit("a", []).ids
        #expect(ids.count == 5 && Set(ids).count == 5)
        #expect(text.contains("/audit/lines?kind=user") && text.contains("<option value=\"user\" selected>"))
        let open = Self.audit(nil, [Self.entry("a", sequence: 9)], next: 9).text
        #expect(open.contains("href=\"/audit?after=9\""))
        #expect(Self.audit(nil, [Self.entry("a")]).text.contains("not chained yet"))
    }

    @Test("of policies show value, default and place, of one file if it is named")
    func policies() {
        let rows = [
            ConsoleParts.PolicyRow(file: "bans.yaml", key: "a", value: "5s", standard: "1s", line: 4),
            ConsoleParts.PolicyRow(file: "cards.yaml", key: "b", value: "true", standard: "true", line: nil),
        ]
        let all = PolicyPages.page(rows, file: nil).text
        #expect(all.contains("bans.yaml, line 4") && all.contains("the default") && all.contains("<bdi>1s</bdi>"))
        let one = PolicyPages.page(rows, file: "bans.yaml").text
        #expect(one.ranges(of: "<th scope=\"row\">").count == 1 && one.contains("/policies?file=cards.yaml"))
    }

    @Test("of nodes say how old the view is, and which clock is ahead")
    func nodes() {
        func text(_ clock: TimeInterval) -> String {
            NodePages.page([Self.node("a")], at: Self.now, here: (0.14, 1, clock)).text
        }
        #expect(text(0.01).contains("0.1 s old, at most 1.0 s") && text(0.01).contains("agrees with the store"))
        #expect(text(2.5).contains("2.5 s ahead of the store") && text(-2.5).contains("2.5 s behind the store"))
        #expect(text(0).contains(">2 seconds ago<") && text(0).contains(">1 day ago<"))
    }
}
