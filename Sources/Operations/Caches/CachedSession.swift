import Domain
import Encoding
import Foundation
import Synchronization

/// Data that cached sessions share: repeated names, and the flags that invalidate the sessions.
struct SessionGates: Sendable {
    struct User: Equatable, Sendable {
        let id: UserID
        let externalID: String
    }

    struct Device: Equatable, Sendable {
        let id: DeviceID
        let thumbprint: Digest256
    }

    /// The provider together with an app. Each combination is a separate value, because there are few.
    struct Provider: Equatable, Sendable {
        let id: ProviderID
        let applicationID: ApplicationID
    }

    let user: Gate<User>
    let device: Gate<Device>
    let provider: Gate<Provider>
    let key: Gate<ProviderKeyID>

    var areOpen: Bool { user.isOpen && device.isOpen && key.isOpen && provider.isOpen }
}

/// A session in this process's memory. Only its last use changes here. All other changes replace it by reading it
/// again.
///
/// There may be millions: it takes 144 bytes of the heap. Times are milliseconds since 1970, as in the store.
final class CachedSession: Sendable {
    let tokenHash: Digest256
    private let id: SessionID
    let gates: SessionGates
    private let createdAt: Int64
    private let renewedAt: Int64
    /// When it was challenged; ``open`` if it is not challenged, ``ended`` if it has ended.
    private let challengedAt: Int64
    private let lastUse: Atomic<Int64>
    /// The last use that is in the store or will soon be written.
    private let writtenUse: Atomic<Int64>

    private static let open = Int64.min
    private static let ended = Int64.max

    init(_ session: Session, _ gates: SessionGates) {
        (tokenHash, id, self.gates) = (session.tokenHash, session.id, gates)
        (createdAt, renewedAt) = (session.createdAt.milliseconds, session.renewedAt.milliseconds)
        challengedAt =
            switch session.state {
            case .unauthenticated: Self.ended
            case .authenticated: Self.open
            case .challenged: session.challengedAt?.milliseconds ?? Self.ended
            }
        lastUse = Atomic(session.lastUsedAt.milliseconds)
        writtenUse = Atomic(session.lastUsedAt.milliseconds)
    }

    /// The session with the last use that this process knows.
    var session: Session {
        let (user, device, provider) = (gates.user.content, gates.device.content, gates.provider.content)
        let state: Session.State =
            switch challengedAt {
            case Self.open: .authenticated
            case Self.ended: .unauthenticated
            default: .challenged
            }
        return Session(
            id: id, tokenHash: tokenHash, userID: user.id, providerID: provider.id, externalID: user.externalID,
            applicationID: provider.applicationID, deviceID: device.id, thumbprint: device.thumbprint,
            providerKeyID: gates.key.content, state: state, createdAt: Date(milliseconds: createdAt),
            renewedAt: Date(milliseconds: renewedAt), lastUsedAt: lastUsedAt,
            challengedAt: state == .challenged ? Date(milliseconds: challengedAt) : nil)
    }

    var lastUsedAt: Date { Date(milliseconds: lastUse.load(ordering: .relaxed)) }

    /// Takes over a use that another process wrote.
    func learn(ofUseAt time: Date) {
        lastUse.max(time.milliseconds, ordering: .relaxed)
        writtenUse.max(time.milliseconds, ordering: .relaxed)
    }

    /// Records a use, often enough for the store to learn of it in time. Concurrent calls may all record it, which is
    /// harmless.
    func touch(now: Date, policy: SessionPolicy, in uses: LastUses) {
        lastUse.max(now.milliseconds, ordering: .relaxed)
        let written = Date(milliseconds: writtenUse.load(ordering: .relaxed))
        guard now.timeIntervalSince(written) >= policy.useInterval, uses.note(id, at: now) else { return }
        writtenUse.max(now.milliseconds, ordering: .relaxed)
    }
}
