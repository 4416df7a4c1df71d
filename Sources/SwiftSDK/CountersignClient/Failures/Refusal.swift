import Foundation

/// The failure of a call.
public indirect enum Refusal: Error, Sendable {
    /// The service refused: see ``Problem/code`` and ``Problem/reason``.
    case service(Problem)
    /// The device has no valid certificate: call ``Countersign/certify(_:)``.
    case uncertified
    /// There is no session: call ``Countersign/signIn(_:)``.
    case signedOut
    /// The session had to be renewed, which failed.
    case notRenewed(SignInFailure)
    /// No connection was established. Nothing was sent, so the call may be repeated.
    case unreachable(String)
    /// The request was sent without a response, so it may have been carried out.
    case unanswered(String)
    /// The server does not match ``Service``: it has another key or another authority.
    case untrusted(String)
    /// The response is too long or malformed.
    case unreadable(String)
    /// This device's clock is wrong by this duration: positive if it is fast, negative if it is slow.
    case clock(offBy: Duration)
    /// The key or the secret could not be stored.
    case storage(StorageFailure)
    /// The platform did not attest the key: the error of the app's closure. Some devices never attest.
    case unattested(any Error)
    case cancelled

    /// The service's refusal, if there is one.
    public var problem: Problem? {
        switch self {
        case .service(let problem): problem
        case .notRenewed(.refused(let refusal)): refusal.problem
        default: nil
        }
    }
}

/// The failure of a sign-in.
public indirect enum SignInFailure: Error, Sendable {
    /// The provider returned no identity token: the error of the app's closure.
    case provider(any Error)
    /// The provider's clock is wrong by this duration: positive if it is fast, negative if it is slow.
    case providerClock(offBy: Duration)
    /// The identity token was for another user than the session's. The session has ended.
    case anotherUser
    /// The service refused, or could not be reached.
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
        case .unanswered(let why): "The service did not respond: \(why). The request may have been carried out."
        case .untrusted(let why): "The server is not trusted: \(why)."
        case .unreadable(let why): "The answer cannot be read: \(why)."
        case .clock(let off): "The clock of this device is \(Self.words(off)): set it."
        case .storage(let failure): failure.description
        case .unattested(let error): "The platform did not attest the key: \(error)."
        case .cancelled: "The call was cancelled."
        }
    }

    /// The error of a clock in words, such as `600 s fast`.
    static func words(_ off: Duration) -> String {
        let seconds = off.components.seconds
        return seconds < 0 ? "\(seconds.magnitude) s slow" : "\(seconds) s fast"
    }
}

extension SignInFailure: CustomStringConvertible {
    /// One sentence for a developer, without a secret.
    public var description: String {
        switch self {
        case .provider(let error): "The provider returned no identity token: \(error)"
        case .providerClock(let off): "The clock of the provider is \(Refusal.words(off)): set it."
        case .anotherUser: "The identity token is for another user than the session's."
        case .refused(let refusal): refusal.description
        }
    }
}
