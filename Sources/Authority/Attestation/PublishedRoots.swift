import Foundation
import SwiftASN1
import X509

/// The names and keys of the roots that Apple and Google publish for attestations.
///
/// They were compared with the published certificates, which are self-signed. Google's new root signs since February
/// 2026, and devices that are provisioned remotely use only it.
enum PublishedRoots {
    static let apple = anchors([(appAttestationName, appAttestation)])
    static let google = anchors([(hardwareName, hardware), (keyAttestationName, keyAttestation)])

    /// A text that is not a key would trust nothing.
    private static func anchors(_ texts: [(name: String, key: String)]) -> [TrustAnchor] {
        texts.compactMap { name, key in
            guard let bytes = Data(base64Encoded: name),
                let name = try? DistinguishedName(derEncoded: DER.parse(Array(bytes))),
                let key = try? Certificate.PublicKey(pemEncoded: key)
            else { return nil }
            return TrustAnchor(name: name, key: key)
        }
    }

    // The names as the certificates have them, in DER: one has several encodings, and only this one is in paths.
    private static let appAttestationName =
        "MFIxJjAkBgNVBAMMHUFwcGxlIEFwcCBBdHRlc3RhdGlvbiBSb290IENBMRMwEQYDVQQKDApBcHBsZSBJbmMuMRMwEQYDVQQIDApDYWxpZm9ybmlh"
    private static let hardwareName = "MBsxGTAXBgNVBAUTEGY5MjAwOWU4NTNiNmIwNDU="
    private static let keyAttestationName =
        "MFIxHDAaBgNVBAMME0tleSBBdHRlc3RhdGlvbiBDQTExEDAOBgNVBAsMB0FuZHJvaWQxEzARBgNVBAoMCkdvb2dsZSBMTEMxCzAJBgNVBAYTAlVT"

    /// Apple App Attestation Root CA, P-384.
    private static let appAttestation = """
        -----BEGIN PUBLIC KEY-----
        MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAERTHhmLW07ATaFQIEVwTtT4dyctdhNbJh
        Fs/Ii2FdCgAHGbpphY3+d8qjuDngIN3WVhQUBHAoMeQ/cLiP1sOUtgjqK9auYen1
        mMEvRq9Sk3Jm5X8U62H+xTD3FE9TgS41
        -----END PUBLIC KEY-----
        """

    /// Google's root with the serial number f92009e853b6b045 in its name, RSA-4096.
    private static let hardware = """
        -----BEGIN PUBLIC KEY-----
        MIICIjANBgkqhkiG9w0BAQEFAAOCAg8AMIICCgKCAgEAr7bHgiuxpwHsK7Qui8xU
        FmOr75gvMsd/dTEDDJdSSxtf6An7xyqpRR90PL2abxM1dEqlXnf2tqw1Ne4Xwl5j
        lRfdnJLmN0pTy/4lj4/7tv0Sk3iiKkypnEUtR6WfMgH0QZfKHM1+di+y9TFRtv6y
        //0rb+T+W8a9nsNL/ggjnar86461qO0rOs2cXjp3kOG1FEJ5MVmFmBGtnrKpa73X
        pXyTqRxB/M0n1n/W9nGqC4FSYa04T6N5RIZGBN2z2MT5IKGbFlbC8UrW0DxW7AYI
        mQQcHtGl/m00QLVWutHQoVJYnFPlXTcHYvASLu+RhhsbDmxMgJJ0mcDpvsC4PjvB
        +TxywElgS70vE0XmLD+OJtvsBslHZvPBKCOdT0MS+tgSOIfga+z1Z1g7+DVagf7q
        uvmag8jfPioyKvxnK/EgsTUVi2ghzq8wm27ud/mIM7AY2qEORR8Go3TVB4HzWQgp
        Zrt3i5MIlCaY504LzSRiigHCzAPlHws+W0rB5N+er5/2pJKnfBSDiCiFAVtCLOZ7
        gLiMm0jhO2B6tUXHI/+MRPjy02i59lINMRRev56GKtcd9qO/0kUJWdZTdA2XoS82
        ixPvZtXQpUpuL12ab+9EaDK8Z4RHJYYfCT3Q5vNAXaiWQ+8PTWm2QgBR/bkwSWc+
        NpUFgNPN9PvQi8WEg5UmAGMCAwEAAQ==
        -----END PUBLIC KEY-----
        """

    /// Google's Key Attestation CA1, P-384.
    private static let keyAttestation = """
        -----BEGIN PUBLIC KEY-----
        MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEI9ojcU7fPlsFCjxy6IRqzgeOoK0b+YsV
        9FPQywiyw8EQRTkJ9u3qwfnI4DGoSLlBqClTXJfgfCcZvs60FikNMHnu4fkRzObf
        gDkU2KNXezT9/RQ+XvNslxPHrHCowhGr
        -----END PUBLIC KEY-----
        """
}
