import Crypto
import CryptoExtras
import Foundation

/// This provider's users. A real backend already has them; this actor lets the example run on its own.
///
/// The actor hashes one password at a time, which also limits the cost of a flood of log-ins to 16 MiB and one core.
actor Accounts {
    /// The stored data of one user, with a salted hash instead of the password.
    struct Account: Codable {
        var salt: Data
        var hash: Data
        var devices: Set<String>
    }

    enum Verdict {
        case accepted, wrong
        case limited(retryAfter: Int)
    }

    /// Log-ins allowed for one user name in a window, and the window in seconds. A success resets the count.
    static let attemptLimit = 10, attemptWindow: TimeInterval = 15 * 60
    /// The most entries in memory: user names with failures, and devices of one user.
    static let rememberedNames = 10_000, rememberedDevices = 20

    private var accounts: [String: Account] = [:]
    private var attempts: [String: (count: Int, since: Date)] = [:]
    private let file: URL?
    /// Replaces an unknown user, so that the time of a response does not reveal who has an account.
    private let nobody: Account

    /// - Parameter file: the file in which the accounts are stored; `nil` keeps them in memory only.
    init(file: URL?) throws {
        self.file = file
        if let file, FileManager.default.fileExists(atPath: file.path) {
            accounts = try JSONDecoder().decode([String: Account].self, from: Data(contentsOf: file))
        }
        nobody = Account(salt: Self.random(count: 16), hash: Self.random(count: 32), devices: [])
    }

    /// Creates an account; `false` if the name is taken.
    func register(_ name: String, password: String, device: String) throws -> Bool {
        guard accounts[name] == nil else { return false }
        let salt = Self.random(count: 16)
        accounts[name] = Account(salt: salt, hash: try Self.hash(password, salt: salt), devices: [device])
        try save()
        return true
    }

    /// Gives an account another password.
    func change(password: String, of name: String) throws {
        let salt = Self.random(count: 16)
        accounts[name]?.hash = try Self.hash(password, salt: salt)
        accounts[name]?.salt = salt
        try save()
    }

    /// Checks a password. The attempt is counted before the comparison.
    func check(_ name: String, password: String, now: Date) throws -> Verdict {
        if let tried = attempts[name], now.timeIntervalSince(tried.since) < Self.attemptWindow {
            guard tried.count < Self.attemptLimit else {
                return .limited(retryAfter: Int(Self.attemptWindow - now.timeIntervalSince(tried.since)) + 1)
            }
            attempts[name] = (tried.count + 1, tried.since)
        } else {
            if attempts.count >= Self.rememberedNames {
                attempts = attempts.filter { now.timeIntervalSince($0.value.since) < Self.attemptWindow }
            }
            guard attempts.count < Self.rememberedNames else { return .limited(retryAfter: 60) }
            attempts[name] = (1, now)
        }
        let account = accounts[name] ?? nobody
        let hash = try Self.hash(password, salt: account.salt)
        guard Self.equalInConstantTime(hash, account.hash), accounts[name] != nil else { return .wrong }
        attempts[name] = nil
        return .accepted
    }

    /// Records that the user logged in on this device.
    func note(device: String, of name: String) throws {
        guard let known = accounts[name]?.devices, known.count < Self.rememberedDevices else { return }
        if accounts[name]?.devices.insert(device).inserted == true { try save() }
    }

    private func save() throws {
        guard let file else { return }
        try JSONEncoder().encode(accounts).write(to: file, options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }

    /// scrypt (RFC 7914) with 16 MiB of memory for each guess, so that a stolen file is slow to search.
    private static func hash(_ password: String, salt: Data) throws -> Data {
        try KDF.Scrypt.deriveKey(
            from: Data(password.utf8), salt: salt, outputByteCount: 32, rounds: 1 << 14, blockSize: 8, parallelism: 1
        ).withUnsafeBytes { Data($0) }
    }

    /// Compares every byte, so that the time does not reveal how many were equal.
    private static func equalInConstantTime(_ left: Data, _ right: Data) -> Bool {
        left.count == right.count && zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func random(count: Int) -> Data {
        SymmetricKey(size: .init(bitCount: count * 8)).withUnsafeBytes { Data($0) }
    }
}
