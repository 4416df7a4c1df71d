import Foundation

/// Why keys or secrets could not be kept or read.
public enum StorageFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The disk, or the quota, is full.
    case full
    /// The app may not read or write there; on a phone also before its first unlock.
    case notPermitted
    /// The device did not recognize its user, or the user did not want to be: nothing was signed.
    case notPresent
    /// What was read is not what was written.
    case damaged
    /// The operating system's number of any other error.
    case failed(code: Int32)

    /// By the number that the last system call left.
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
        case .full: "The disk is full: the secret was not kept."
        case .notPermitted: "The secret's place may not be used at this moment."
        case .notPresent: "The user was not recognized: nothing was signed."
        case .damaged: "The secret's place holds something else: remove it, and certify the device anew."
        case .failed(let code): "The secret's place cannot be used: error \(code) of the operating system."
        }
    }
}
