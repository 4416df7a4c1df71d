import Foundation

/// Why a call gave no result.
public indirect enum Refusal: Error, Sendable {
    /// The service refused: see ``Problem/code`` and ``Problem/reason``.
    case service(Problem)
    /// The device has no valid certificate: call ``Countersign/certify(_:)``.
    case uncertified
    /// There is no session: call ``Countersign/signIn(_:)``.
    case signedOut
    /// The session had to be renewed, and that failed.
    case notRenewed(SignInFailure)
    /// No connection came about. Nothing was sent, so the call may be repeated.
    case unreachable(String)
    /// The request was sent and no answer came: it may have been carried out.
    case unanswered(String)
    /// The server is not the one that ``Service`` names: another key, or another authority.
    case untrusted(String)
    /// The answer is too long, or it is none of the service.
    case unreadable(String)
    /// The clock of this device is wrong: it is ahead (positive) or behind by so much.
    case clock(offBy: Duration)
    /// Key or secret could not be kept.
    case storage(StorageFailure)
    /// The task of the caller was cancelled.
    case cancelled

    /// The answer of the service, if it refused.
    public var problem: Problem? {
        switch self {
        case .service(let problem): problem
        case .notRenewed(.refused(let refusal)): refusal.problem
        default: nil
        }
    }
}

/// Why a user was not signed in.
public indirect enum SignInFailure: Error, Sendable {
    /// The provider gave no identity token: what the app's closure threw.
    case provider(any Error)
    /// The clock of the provider is wrong: it is ahead (positive) or behind by so much.
    case providerClock(offBy: Duration)
    /// Another user than the session's proved an identity. The session is over.
    case anotherUser
    /// The service refused, or could not be asked.
    case refused(Refusal)
}

extension Refusal: CustomStringConvertible {
    /// One sentence for a developer, without a secret.
    public var description: String {
        switch self {
        case .service(let problem): problem.description
        case .uncertified: "The device has no valid certificate: call certify."
        case .signedOut: "There is no session: call signIn."
        case .notRenewed(let failure): "The session was not renewed. \(failure)"
        case .unreachable(let why): "No connection to the service: \(why)."
        case .unanswered(let why): "The service gave no answer: \(why). The request may have been carried out."
        case .untrusted(let why): "The server is not the one that was named: \(why)."
        case .unreadable(let why): "The answer cannot be read: \(why)."
        case .clock(let off): "The clock of this device is \(Self.words(off)): set it."
        case .storage(let failure): failure.description
        case .cancelled: "The call was cancelled."
        }
    }

    /// Such as `600 s ahead`.
    static func words(_ off: Duration) -> String {
        let seconds = off.components.seconds
        return seconds < 0 ? "\(seconds.magnitude) s behind" : "\(seconds) s ahead"
    }
}

extension SignInFailure: CustomStringConvertible {
    /// One sentence for a developer, without a secret.
    public var description: String {
        switch self {
        case .provider(let error): "The provider gave no identity token: \(error)"
        case .providerClock(let off): "The clock of the provider is \(Refusal.words(off)): set it."
        case .anotherUser: "The identity token names another user than the session's."
        case .refused(let refusal): refusal.description
        }
    }
}
