//! Before anything is timed, a contender must prove that it refuses bad requests.

use super::{round::Contender, signing::UnsignedRequest, wire::LoadConnection};
use anyhow::ensure;

/// One good request, and all that must be refused. The first use of a proof goes to the first node, its replay to the last.
pub(super) async fn judge(contender: &Contender) -> anyhow::Result<()> {
    let signer = &contender.signer;
    let good = signer.draft(0);
    let proof = signer.proof(&good)?;
    let fresh = signer.head(&good, &proof);
    passes(contender, &fresh).await?;
    refused(contender, "a replay", &fresh).await?;
    let elsewhere = format!("{}/elsewhere", signer.htu);
    refused(contender, "a wrong htu", &signer.request(&UnsignedRequest { htu: &elsewhere, ..signer.draft(1) })?)
        .await?;
    let others = signer.draft(2).token;
    refused(contender, "a wrong ath", &signer.request(&UnsignedRequest { proof_token: others, ..signer.draft(3) })?)
        .await?;
    refused(contender, "a wrong key", &signer.request(&UnsignedRequest { key: signer.stranger(), ..signer.draft(4) })?)
        .await?;
    let draft = signer.draft(5);
    let flipped = flipped(&signer.proof(&draft)?);
    refused(contender, "a flipped signature", &signer.head(&draft, &flipped)).await?;
    Ok(())
}

/// Checks only that a proxy without checks responds.
pub(super) async fn answers(contender: &Contender) -> anyhow::Result<()> {
    passes(contender, &contender.signer.request(&contender.signer.draft(0))?).await
}

async fn passes(contender: &Contender, request: &[u8]) -> anyhow::Result<()> {
    let (status, answer) = ask(contender, 0, request).await?;
    ensure!(status == 200, "{} refuses what is in order: {answer}", contender.name);
    Ok(())
}

async fn refused(contender: &Contender, what: &str, request: &[u8]) -> anyhow::Result<()> {
    let (status, answer) = ask(contender, contender.addresses.len() - 1, request).await?;
    ensure!(matches!(status, 400 | 401 | 403), "{} answers {what} with {answer}", contender.name);
    Ok(())
}

async fn ask(contender: &Contender, node: usize, request: &[u8]) -> anyhow::Result<(u16, String)> {
    let mut connection = LoadConnection::open(contender.addresses[node]).await?;
    let status = connection.ask(request).await?;
    Ok((status, connection.answer()))
}

/// Flips one bit of the signature's first byte.
fn flipped(proof: &str) -> String {
    let Some((signed, signature)) = proof.rsplit_once('.') else { return proof.to_owned() };
    let first = if signature.starts_with('A') { 'B' } else { 'A' };
    format!("{signed}.{first}{}", signature.get(1..).unwrap_or_default())
}
