import ArgumentParser

/// A key that `keys rotate` replaces while the service runs.
enum RotatedKey: String, CaseIterable, ExpressibleByArgument {
    case wrapping
    case phoneCode = "phone-code"
    case blindIndex = "blind-index"
    case nonce
    case service
    case accessToken = "access-token"
    case server
    /// The internal authority, which certifies devices.
    case authority = "ca"
    case webhook
}

/// A step of a rotation.
enum RotationStep: String {
    /// The new key is made, and accepted by each node that reads it.
    case stage
    /// The new key is used.
    case use
    /// The former key is removed.
    case prune
}

/// What a step changed, and what the operator does next.
struct RotationOutcome: Equatable {
    /// The files that changed; empty if the step was done before.
    var changed: [String] = []
    /// A sentence for each thing to do.
    var next: [String] = []
}
