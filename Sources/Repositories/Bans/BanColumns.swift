import Database
import Domain
import Encoding
import Foundation

/// The columns of `bans` but for the sealed notes, which are read by themselves.
struct BanColumns: ColumnSet {
    let id: Column<BanID>
    let kind: Column<BanSubjectKind>
    let scope: Column<Ban.Scope>
    let reason: Column<Ban.Reason>
    let actor: Column<String>
    let createdAt: Column<Date>
    let endsAt: Column<Date?>
    let liftedAt: Column<Date?>
    let liftedBy: Column<String?>

    init(_ list: inout ColumnList) {
        id = list.add("id")
        kind = list.add("kind")
        scope = list.add("scope")
        reason = list.add("reason")
        actor = list.add("actor")
        createdAt = list.add("created_at")
        endsAt = list.add("ends_at")
        liftedAt = list.add("lifted_at")
        liftedBy = list.add("lifted_by")
    }

    func ban(_ row: Row) throws -> Ban {
        let actor = try row[liftedBy]
        return Ban(
            id: try row[id], kind: try row[kind], scope: try row[scope], reason: try row[reason],
            actor: try row[self.actor], createdAt: try row[createdAt], endsAt: try row[endsAt],
            lifted: try row[liftedAt].flatMap { at in actor.map { .init(at: at, actor: $0) } })
    }

    func write(_ ban: Ban, to row: inout NewRow) {
        row.set(id, ban.id)
        row.set(kind, ban.kind)
        row.set(scope, ban.scope)
        row.set(reason, ban.reason)
        row.set(actor, ban.actor)
        row.set(createdAt, ban.createdAt)
        row.set(endsAt, ban.endsAt)
        row.set(liftedAt, ban.lifted?.at)
        row.set(liftedBy, ban.lifted?.actor)
    }
}

/// The columns of `ban_holds`: the entries of bans.
struct BanEntryColumns: ColumnSet {
    let banID: Column<BanID>
    /// `user`, `device`, `phone`, `document` or `device_key`: what `subject` is.
    let kind: Column<String>
    /// The 16 bytes of an identifier or the 32 bytes of a digest.
    let subject: Column<[UInt8]>
    let origin: Column<BanEntry.Origin>
    let endsAt: Column<Date?>
    let indexVersion: Column<Int?>
    let goesWithBan: Column<Bool>

    init(_ list: inout ColumnList) {
        banID = list.add("ban_id")
        kind = list.add("kind")
        subject = list.add("subject")
        origin = list.add("part")
        endsAt = list.add("ends_at")
        indexVersion = list.add("index_version")
        goesWithBan = list.addWritten("goes_with_ban")
    }

    func entry(_ row: Row, of ban: Ban) throws -> BanEntry {
        BanEntry(
            ban: ban, subject: try subject(row), origin: try row[origin], endsAt: try row[endsAt],
            indexVersion: try row[indexVersion])
    }

    private func subject(_ row: Row) throws -> BanEntry.Subject {
        let bytes = try row[subject]
        func identifier<Kind>() throws -> Identifier<Kind> {
            guard let id = Identifier<Kind>(bytes: bytes) else { throw DamagedRow(column: subject.index) }
            return id
        }
        func digest() throws -> Digest256 {
            guard let digest = Digest256(bytes) else { throw DamagedRow(column: subject.index) }
            return digest
        }
        return switch try row[kind] {
        case "user": .user(try identifier())
        case "device": .device(try identifier())
        case "phone": .phone(try digest())
        case "document": .document(try digest())
        case "device_key": .deviceKey(try digest())
        default: throw DamagedRow(column: kind.index)
        }
    }

    func write(_ entry: BanEntry, goesWithBan: Bool, to row: inout NewRow) {
        let (kind, bytes) = BanRepository.columns(of: entry.subject)
        row.set(banID, entry.ban.id)
        row.set(self.kind, kind)
        row.set(subject, bytes)
        row.set(origin, entry.origin)
        row.set(endsAt, entry.endsAt)
        row.set(indexVersion, entry.indexVersion)
        row.set(self.goesWithBan, goesWithBan)
    }
}

extension Identifier {
    /// The sixteen bytes.
    var bytes: [UInt8] { withUnsafeBytes(of: uuid.uuid) { Array($0) } }

    init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.init(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    }
}
