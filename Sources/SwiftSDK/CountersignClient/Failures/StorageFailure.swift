import Foundation

/// Why keys or secrets could not be kept or read.
public enum StorageFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The disk, or the quota, is full.
    case full
    /// The app has no access, which on a phone is also the case before its first unlock.
    case notPermitted
    /// The device did not recognize its user, or the user cancelled. Nothing was signed.
    case notPresent
    /// The stored content is damaged.
    case damaged
    /// Any other error, by the operating system's number.
    case failed(code: Int32)

    /// From the error number of the last system call.
    init(errno code: Int32) {
        self =
            switch code {
            case ENOSPC, EDQUOT: .full
            case EACCES, EPERM, EROFS: .notPermitted
            default: .failed(code: code)
            }
    }

    /// One sentence for a developer.
    public var description: String {
        switch self {
        case .full: "The disk is full: the secret was not stored."
        case .notPermitted: "The secret cannot be accessed now: unlock the device, or check its permissions."
        case .notPresent: "The user was not recognized: nothing was signed."
        case .damaged: "The stored secret is damaged: delete it, and certify the device again."
        case .failed(let code): "The secret cannot be accessed: error \(code) of the operating system."
        }
    }
}
