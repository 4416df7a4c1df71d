import Authority
import Domain
import Fixtures
import Foundation
import Operations
import PhoneNumbers
import Repositories
import Testing

@Suite("What admins look up")
struct LookupTests {
    @Test("is a user by the provider's id, or by number and document, which is audited without either")
    func users() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            _ = try await bench.withPhone("bob", "+14155552672")
            try await bench.show(try .virginia, alice)
            let id = alice.session.userID
            let slug = fixture.registration.provider.slug.text
            #expect(try await fixture.admin.findUsers(externalID: "alice", of: nil).map(\.user.id) == [id])
            #expect(
                try await fixture.admin.findUsers(externalID: "alice", of: slug).map(\.address) == ["\(slug)/alice"])
            #expect(try await fixture.admin.findUsers(externalID: "nobody", of: nil).isEmpty)
            await #expect(throws: Refusal(.notFound, "")) {
                try await fixture.admin.findUsers(externalID: "alice", of: "nowhere")
            }
            let number = try PhoneNumber(fromCaller: "+14155552671")
            #expect(try await fixture.admin.findUsers(.phone(number), reason: "ticket:1").map(\.user.id) == [id])
            let other = try PhoneNumber(fromCaller: "+14155552673")
            #expect(try await fixture.admin.findUsers(.phone(other), reason: "ticket:2").isEmpty)
            guard case .document(let document) = try BanTarget.document(reading: "VA:T64225789") else { return }
            #expect(try await fixture.admin.findUsers(.document(document), reason: "ticket:3").map(\.user.id) == [id])
            let log = ReadAudit(store: fixture.store)
            // All are of one moment.
            let looks = try await log.search(try ReadAudit.Filter(event: "personal_data_read"), count: 9).map(\.entry)
                .sorted { ($0.reason ?? "") < ($1.reason ?? "") }
            #expect(looks.map(\.subject) == ["user \(id)", "users none", "user \(id)"])
            #expect(looks.map(\.reason) == ["ticket:1", "ticket:2", "ticket:3"])
            #expect(looks.allSatisfy { !"\($0)".contains("555267") && !"\($0)".contains("64225789") })
        }
    }

    @Test("is in the audit log for each operation that takes a number, also if it finds nothing or is refused")
    func operations() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            try await bench.prove("+14155552671", alice)
            let admin = fixture.admin
            let looks: [(name: String, run: (BanTarget) async throws -> Void)] = [
                ("previewBan", { _ = try await admin.previewBan(try bench.order($0)) }),
                ("addBan", { _ = try await admin.addBan(try bench.order($0), upTo: -1) }),
                ("banHistory", { _ = try await admin.banHistory(of: $0) }),
                ("previewLift", { _ = try await admin.previewLift(on: $0) }),
                ("liftBans", { _ = try await admin.liftBans(on: $0, note: "no") }),
            ]
            // Those of users take a trait, and have a test of their own. One reads for the others.
            let taking = try SourceFile.all(below: "Sources/Operations").flatMap { file in
                file.text.split(separator: "\n    func ").dropFirst().compactMap { part -> String? in
                    let head = part.prefix { $0 != "{" }
                    guard head.contains(/: (?:BanOrder|BanTarget)[,)]/), head.contains("async throws") else {
                        return nil
                    }
                    return String(head.prefix { $0.isLetter })
                }
            }
            #expect(Set(taking) == Set(looks.map(\.name) + ["read"]))
            func count() async throws -> Int64 {
                try await bench.count("audit_entries", where: "event = 'personal_data_read'")
            }
            for number in ["+14155552671", "+14155552673"] {
                for look in looks {
                    let before = try await count()
                    do { try await look.run(try bench.phone(number)) } catch {}
                    #expect(try await count() == before + 1, "\(look.name) \(number)")
                }
            }
            let user = alice.session.userID
            let named = "event = 'personal_data_read' AND subject = 'user \(user)'"
            #expect(try await bench.count("audit_entries", where: named) == 2)
            let before = try await count()
            _ = try await admin.previewBan(try bench.order(.user("test/alice")))
            #expect(try await count() == before)
            #expect(try await bench.count("bans") == 0)
        }
    }

    @Test("is a device with its certificates and sessions, and sessions by user, device and provider, page by page")
    func sessions() async throws {
        try await ServiceFixture.run { fixture in
            let (first, second) = (try await fixture.connectNewDevice(), try await fixture.connectNewDevice())
            var opened: [Session] = []
            for name in ["alice", "bob", "cyd"] {
                fixture.clock.advance(1)
                opened.append(try await fixture.opened(name, on: first).session)
            }
            let elsewhere = try await fixture.opened("alice", on: second).session
            let found = try await fixture.admin.readDevice(opened[0].deviceID)
            #expect(found.certificates.map(\.thumbprint) == [first.thumbprint] && !found.summary.hasPresenceKey)
            #expect(Set(found.sessions.map(\.id)) == Set(opened.map(\.id)) && found.summary.sessions == 3)
            await #expect(throws: Refusal(.notFound, "")) { try await fixture.admin.readDevice(DeviceID(UUID())) }
            let all = try await fixture.admin.listSessions(limit: 9, .all)
            #expect(Set(all.map(\.id)) == Set((opened + [elsewhere]).map(\.id)))
            let page = try await fixture.admin.listSessions(limit: 3, .all)
            #expect(try await page + fixture.admin.listSessions(limit: 3, after: page.last?.id, .all) == all)
            let slug = fixture.registration.provider.slug.text
            for scope in [Administration.SessionSelection.all, .user("\(slug)/alice"), .device(opened[0].deviceID)] {
                await #expect(throws: Refusal(.notFound, "")) {
                    try await fixture.admin.listSessions(limit: 3, after: SessionID(UUID()), scope)
                }
            }
            #expect(try await fixture.admin.listSessions(limit: 9, .provider(slug)) == all)
            #expect(
                try await Set(fixture.admin.listSessions(limit: 9, .user("\(slug)/alice")).map(\.id)) == [
                    opened[0].id, elsewhere.id,
                ])
            let here = try await fixture.admin.listSessions(limit: 9, .device(opened[0].deviceID))
            #expect(Set(here.map(\.id)) == Set(opened.map(\.id)))
            let one = try await fixture.admin.listSessions(limit: 1, .device(opened[0].deviceID))
            #expect(
                try await one + fixture.admin.listSessions(limit: 9, after: one.last?.id, .device(opened[0].deviceID))
                    == here)
            await #expect(throws: Refusal(.notFound, "")) {
                try await fixture.admin.listSessions(limit: 1, .device(DeviceID(UUID())))
            }
            await #expect(throws: Refusal(.notFound, "")) {
                try await fixture.admin.listSessions(limit: 1, .provider("nowhere"))
            }
        }
    }

    @Test("is a provider with all that is registered of it")
    func provider() async throws {
        try await ServiceFixture.run { fixture in
            let provider = fixture.registration.provider
            let found = try await fixture.admin.readProvider(provider.slug.text)
            #expect(found.provider == provider && found.keys.map(\.id) == [fixture.registration.keyID])
            #expect(found.applications.map(\.id) == [fixture.registration.applicationID])
            #expect(found.webhook == nil && found.resources.isEmpty && found.streams.isEmpty)
        }
    }

    @Test("is, before a device is revoked, what would end")
    func preview() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let device = try await fixture.opened("alice", on: connection).session.deviceID
            _ = try await fixture.opened("bob", on: connection)
            let foreseen = try await fixture.admin.previewRevocation(of: device)
            #expect(foreseen.serials.count == 1 && foreseen.sessionsEnded.count == 2 && foreseen.users == 2)
            await #expect(throws: Refusal.moreUsers(2)) {
                try await fixture.admin.revokeDevice(device, reason: .keyCompromise, upTo: 1)
            }
            #expect(try await fixture.admin.previewRevocation(of: device).serials.count == 1)
            #expect(
                try await fixture.admin.revokeDevice(device, reason: .keyCompromise).sessionsEnded
                    == foreseen.sessionsEnded)
            #expect(try await fixture.admin.previewRevocation(of: device).serials.isEmpty)
        }
    }
}
