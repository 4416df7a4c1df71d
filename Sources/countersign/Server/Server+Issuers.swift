import Authority
import Delivery
import Domain
import Logging
import Operations

/// The loop that fetches the key sets of issuers before sign-ins need them.
extension Server {
    func issuersLoop() -> @Sendable () async -> Void {
        let refresh = RefreshIssuers(service)
        return { [logger] in
            await refresh.run(
                onChange: { issuer, failure in
                    guard let failure else {
                        return logger.notice(
                            "an issuer's keys can be fetched again", metadata: ["issuer": .string(issuer)])
                    }
                    logger.warning(
                        "an issuer's keys cannot be fetched: the cached keys expire after 24 hours",
                        metadata: ["issuer": .string(issuer), "cause": .string(failure)])
                },
                onFailure: {
                    logger.error(
                        "the issuers cannot be read from the store",
                        metadata: ["cause": .string(ErrorWords.of($0))])
                })
        }
    }
    /// The loop that fetches Google's list of revoked attestations.
    func attestationsLoop() -> @Sendable () async -> Void {
        let refresh = RefreshAttestationStatus(service) { [policy] in
            await AttestationListReader(policy[\.delivery], upTo: AttestationStatusList.maximumLength)()
        }
        return { [logger, policy] in
            await refresh.run(
                onChange: { failure in
                    guard let failure else {
                        return logger.notice("the list of revoked attestations can be fetched again")
                    }
                    let consequence = policy[\.certification].attestation.statusUnknown.consequence
                    logger.warning(
                        "the list of revoked attestations cannot be fetched: \(consequence)",
                        metadata: ["cause": .string(failure)])
                },
                onFailure: {
                    logger.error(
                        "the list of revoked attestations cannot be stored",
                        metadata: ["cause": .string(ErrorWords.of($0))])
                })
        }
    }
}

extension CertificationPolicy.StatusUnknown {
    /// What happens while the list cannot be fetched, as the end of a sentence.
    var consequence: String {
        switch self {
        case .refuse: "no Android key is certified once it is too old"
        case .admit: "once it is too old, Android keys are certified unless the old list names them"
        }
    }
}
