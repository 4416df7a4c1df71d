import Database
import Domain
import Encoding
import Foundation

/// The columns of `phone_verifications`.
struct PhoneVerificationColumns: ColumnSet {
    let id: Column<PhoneVerificationID>
    let userID: Column<UserID>
    let deviceID: Column<DeviceID>
    let numberIndex: Column<Digest256>
    let sealedNumber: Column<[UInt8]>
    let sealedPushEndpoint: Column<[UInt8]?>
    let keyVersion: Column<Int>
    let createdAt: Column<Date>
    let expiresAt: Column<Date>
    let checks: Column<Int>
    let resends: Column<Int>
    let askedAt: Column<Date>
    let isSent: Column<Bool>
    let verifiedAt: Column<Date?>

    init(_ list: inout ColumnList) {
        id = list.add("id")
        userID = list.add("user_id")
        deviceID = list.add("device_id")
        numberIndex = list.add("number_index")
        sealedNumber = list.add(.verificationNumber)
        sealedPushEndpoint = list.add(.verificationPushEndpoint)
        keyVersion = list.add("key_version")
        createdAt = list.add("created_at")
        expiresAt = list.add("expires_at")
        checks = list.add("checks")
        resends = list.add("resends")
        askedAt = list.add("asked_at")
        isSent = list.add("is_sent")
        verifiedAt = list.add("verified_at")
    }

    func entry(_ row: Row) throws -> PhoneVerificationRepository.Entry {
        .init(
            challenge: PhoneVerification(
                id: try row[id], userID: try row[userID], deviceID: try row[deviceID],
                keyVersion: try row[keyVersion], createdAt: try row[createdAt], expiresAt: try row[expiresAt],
                checks: try row[checks], resends: try row[resends], askedAt: try row[askedAt],
                isSent: try row[isSent], verifiedAt: try row[verifiedAt]),
            numberIndex: try row[numberIndex], sealedNumber: try row[sealedNumber],
            sealedPushEndpoint: try row[sealedPushEndpoint])
    }

    func write(_ entry: PhoneVerificationRepository.Entry, to row: inout NewRow) {
        let challenge = entry.challenge
        row.set(id, challenge.id)
        row.set(userID, challenge.userID)
        row.set(deviceID, challenge.deviceID)
        row.set(numberIndex, entry.numberIndex)
        row.set(sealedNumber, entry.sealedNumber)
        row.set(sealedPushEndpoint, entry.sealedPushEndpoint)
        row.set(keyVersion, challenge.keyVersion)
        row.set(createdAt, challenge.createdAt)
        row.set(expiresAt, challenge.expiresAt)
        row.set(checks, challenge.checks)
        row.set(resends, challenge.resends)
        row.set(askedAt, challenge.askedAt)
        row.set(isSent, challenge.isSent)
        row.set(verifiedAt, challenge.verifiedAt)
    }
}
