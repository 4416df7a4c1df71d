import Database
import Domain
import Encoding
import Foundation

/// The columns of `identity_cards` without the sealed reason, which is read separately.
struct IdentityCardColumns: ColumnSet {
    let id: Column<IdentityCardID>
    let userID: Column<UserID>
    let providerID: Column<ProviderID>
    let status: Column<CardStatus>
    let sealedFacts: Column<[UInt8]>
    let sealedInput: Column<[UInt8]?>
    let checks: Column<String>
    let assurance: Column<Assurance>
    let documentIndex: Column<Digest256?>
    let personIndex: Column<Digest256?>
    let submittedAt: Column<Date>
    let decidedAt: Column<Date?>
    let decidedBy: Column<String?>

    init(_ list: inout ColumnList) {
        id = list.add("id")
        userID = list.add("user_id")
        providerID = list.add("provider_id")
        status = list.add("status")
        sealedFacts = list.add(.cardFacts)
        sealedInput = list.add(.cardInput)
        checks = list.add("checks")
        assurance = list.add("assurance")
        documentIndex = list.add("document_index")
        personIndex = list.add("person_index")
        submittedAt = list.add("submitted_at")
        decidedAt = list.add("decided_at")
        decidedBy = list.add("decided_by")
    }

    func entry(_ row: Row) throws -> IdentityCardRepository.Entry {
        .init(
            id: try row[id], userID: try row[userID], providerID: try row[providerID], status: try row[status],
            sealedFacts: try row[sealedFacts], sealedInput: try row[sealedInput], checks: try row[checks],
            assurance: try row[assurance], documentIndex: try row[documentIndex], personIndex: try row[personIndex],
            submittedAt: try row[submittedAt], decidedAt: try row[decidedAt], decidedBy: try row[decidedBy])
    }

    func write(_ entry: IdentityCardRepository.Entry, to row: inout NewRow) {
        row.set(id, entry.id)
        row.set(userID, entry.userID)
        row.set(providerID, entry.providerID)
        row.set(status, entry.status)
        row.set(sealedFacts, entry.sealedFacts)
        row.set(sealedInput, entry.sealedInput)
        row.set(checks, entry.checks)
        row.set(assurance, entry.assurance)
        row.set(documentIndex, entry.documentIndex)
        row.set(personIndex, entry.personIndex)
        row.set(submittedAt, entry.submittedAt)
        row.set(decidedAt, entry.decidedAt)
        row.set(decidedBy, entry.decidedBy)
    }
}
