import Authority
import Domain
import Tokens

/// The two forms of a certification request as one value: a key whose holder proved it, and two wishes.
struct RequestedCertificate: Sendable {
    let key: DevicePublicKey
    let wishedDeviceID: DeviceID?
    let userAgent: String?

    init(_ csr: String) throws(Refusal) {
        if csr.contains("-----BEGIN") || !csr.contains(".") {
            let request = try CertificationRequest.parse(pkcs10: csr)
            (key, wishedDeviceID, userAgent) = (request.publicKey, request.wishedDeviceID, nil)
        } else {
            let request = try LayerCSR(csr)
            key = try DevicePublicKey(request.publicKey)
            wishedDeviceID = request.wishedDeviceID.flatMap { DeviceID($0[...]) }
            userAgent = request.userAgent
        }
    }
}
